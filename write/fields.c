/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/fields.h"

#include "paths/path-text.h"
#include "paths/pattern-text.h"

void fields_append_names(GString *out, const Field *fields, guint n)
{
        for (guint i = 0; i < n; i++)
                g_string_append_printf(out, "%s\t", fields[i].name);
}

void field_append_text(GString *out, const char *text)
{
        path_append_label_cell(out, text);
        g_string_append_c(out, '\t');
}

static double fields_field_number(const Field *field, gconstpointer row)
{
        return G_STRUCT_MEMBER(double, row, field->offset);
}

static void field_append_cell(GString *out, const Field *field, gconstpointer row)
{
        switch (field->type) {
        case FIELD_COUNT:
                path_append_integer(out, G_STRUCT_MEMBER(guint64, row, field->offset));
                break;
        case FIELD_UINT:
                path_append_integer(out, G_STRUCT_MEMBER(guint, row, field->offset));
                break;
        case FIELD_TIME:
                path_append_integer(out, G_STRUCT_MEMBER(gint64, row, field->offset));
                break;
        case FIELD_MEAN:
                path_append_number(out, fields_field_number(field, row), "%.0f");
                break;
        case FIELD_CUT:
                path_append_integer(out, (gint64)fields_field_number(field, row));
                break;
        case FIELD_DECIMAL:
                path_append_number(out, fields_field_number(field, row), "%.4f");
                break;
        case FIELD_TEXT:
                path_append_label_cell(out, G_STRUCT_MEMBER(const char *, row, field->offset));
                break;
        default:
                path_append_number(out, fields_field_number(field, row), "%.6g");
        }
        g_string_append_c(out, '\t');
}

void fields_append_cells(GString *out, const Field *fields, guint n, gconstpointer row)
{
        for (guint i = 0; i < n; i++)
                field_append_cell(out, &fields[i], row);
}

static void field_put_value(Json *j, const Field *field, gconstpointer row)
{
        switch (field->type) {
        case FIELD_COUNT:
                json_count(j, G_STRUCT_MEMBER(guint64, row, field->offset));
                break;
        case FIELD_UINT:
                json_count(j, G_STRUCT_MEMBER(guint, row, field->offset));
                break;
        case FIELD_TIME:
                json_time(j, G_STRUCT_MEMBER(gint64, row, field->offset));
                break;
        case FIELD_MEAN:
        case FIELD_CUT:
                json_time(j, (gint64)fields_field_number(field, row));
                break;
        case FIELD_TEXT:
                json_string(j, G_STRUCT_MEMBER(const char *, row, field->offset));
                break;
        case FIELD_NUMBER:
                json_number(j, fields_field_number(field, row), "%.6g");
                break;
        case FIELD_DECIMAL:
                json_number(j, fields_field_number(field, row), "%.4f");
                break;
        default:
                if (field->type == FIELD_KNOWN && fields_field_number(field, row) < 0)
                        json_null(j);
                else
                        json_number(j, fields_field_number(field, row), "%.9g");
        }
}

void fields_put(Json *j, const Field *fields, guint n, gconstpointer row)
{
        for (guint i = 0; i < n; i++) {
                json_key(j, fields[i].name);
                field_put_value(j, &fields[i], row);
        }
}

void fields_put_list(Json *j, const char *key, int blanks, const Field *fields, guint n,
                     const GArray *rows)
{
        gsize size = g_array_get_element_size((GArray *)rows);

        json_put_open(j, key, '[');
        for (guint i = 0; i < rows->len; i++) {
                if (blanks >= 0)
                        json_line(j, (guint)blanks);
                json_open(j, '{');
                fields_put(j, fields, n, rows->data + i * size);
                json_close(j, '}');
        }
        json_close(j, ']');
}
