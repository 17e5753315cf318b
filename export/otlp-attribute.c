/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/otlp-attribute.h"

#include <string.h>

void otlp_open_attribute(Json *j, const char *key, const char *type)
{
        json_open(j, '{');
        json_put_plain(j, "key", key);
        json_put_open(j, "value", '{');
        json_key(j, type);
}

void otlp_close_attribute(Json *j)
{
        json_close(j, '}');
        json_close(j, '}');
}

void otlp_put_bytes(Json *j, const char *key, const char *value, gsize n)
{
        otlp_open_attribute(j, key, "stringValue");
        json_bytes(j, value, n);
        otlp_close_attribute(j);
}

void otlp_put_string(Json *j, const char *key, const char *value)
{
        otlp_put_bytes(j, key, value, strlen(value));
}

void otlp_put_integer(Json *j, const char *key, gint64 value)
{
        otlp_open_attribute(j, key, "intValue");
        json_time(j, value);
        otlp_close_attribute(j);
}
