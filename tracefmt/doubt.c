/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/doubt.h"

#include <string.h>

#include "base/compare.h"
#include "base/each.h"

#define N "%" G_GUINT64_FORMAT

static const struct {
        const char *word;
        DoubtClass class;
        const char *unit, *sentence;
} reasons[] = {
#define X(name, ...) { __VA_ARGS__ },
        DOUBT_REASONS(X)
#undef X
};

const char *doubt_word(DoubtReason reason)
{
        g_assert(reason < N_DOUBT_REASONS);
        return reasons[reason].word;
}

static const char *doubt_sentence(DoubtReason reason)
{
        g_assert(reason < N_DOUBT_REASONS);
        return reasons[reason].sentence;
}

DoubtClass doubt_class(DoubtReason reason)
{
        g_assert(reason < N_DOUBT_REASONS);
        return reasons[reason].class;
}

static const char *caller_written(const Doubt *d, const NodeTable *nodes)
{
        return d->caller == NO_NODE ? "*" : node_table_written(nodes, d->caller);
}

char *doubt_to_value(const Doubt *d, const NodeTable *nodes)
{
        GString *text = g_string_new(NULL);

        g_string_append_printf(text, "%s %s %s " N " " N, caller_written(d, nodes),
                               node_table_written(nodes, d->callee), doubt_word(d->reason),
                               d->count, d->of);
        if (*d->kind)
                g_string_append_printf(text, " kind=%s", d->kind);
        if (d->of_bytes)
                g_string_append_printf(text, " bytes=" N "/" N, d->bytes, d->of_bytes);
        return g_string_free(text, FALSE);
}

/* --- reading --------------------------------------------------------------- */

static gboolean parse_count(const char *text, guint64 *n)
{
        return g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, n, NULL);
}

static gboolean parse_node(const char *text, NodeTable *nodes, NodeId *node)
{
        *node = node_table_add_written(nodes, text, strlen(text), NULL);
        return *node != NO_NODE;
}

static gboolean parse_reason(const char *word, DoubtReason *reason)
{
        for (guint i = 0; i < N_DOUBT_REASONS; i++)
                if (!strcmp(reasons[i].word, word)) {
                        *reason = i;
                        return TRUE;
                }
        return FALSE;
}

/* FALSE where it is an attribute that is known, and broken. */
static gboolean parse_attribute(Doubt *d, const char *text)
{
        if (g_str_has_prefix(text, "kind=")) {
                gboolean plain = TRUE;
                for (const char *p = text + 5; *p; p++)
                        plain &= g_ascii_isalnum(*p) || *p == '-';
                return plain && g_strlcpy(d->kind, text + 5, sizeof d->kind) < sizeof d->kind;
        }
        if (g_str_has_prefix(text, "bytes=")) {
                g_auto(GStrv) parts = g_strsplit(text + 6, "/", 0);
                return g_strv_length(parts) == 2 && parse_count(parts[0], &d->bytes) &&
                       parse_count(parts[1], &d->of_bytes) && d->bytes <= d->of_bytes;
        }
        return TRUE;
}

gboolean doubt_from_fact(Doubt *d, const char *fact, NodeTable *nodes)
{
        static const char key[] = "doubt: ";
        enum { CALLER, CALLEE, REASON, COUNT, OF, N_FIELDS };

        if (!g_str_has_prefix(fact, key))
                return FALSE;
        g_auto(GStrv) fields = g_strsplit(fact + sizeof key - 1, " ", 0);
        memset(d, 0, sizeof *d);
        d->caller = NO_NODE;
        if (g_strv_length(fields) < N_FIELDS || !parse_reason(fields[REASON], &d->reason) ||
            !parse_count(fields[COUNT], &d->count) || !parse_count(fields[OF], &d->of) ||
            d->count == 0 || d->count > d->of)
                return FALSE;
        for (char **field = fields + N_FIELDS; *field; field++)
                if (!parse_attribute(d, *field))
                        return FALSE;
        if (!strcmp(fields[CALLEE], "*"))
                return FALSE;
        return (!strcmp(fields[CALLER], "*") || parse_node(fields[CALLER], nodes, &d->caller)) &&
               parse_node(fields[CALLEE], nodes, &d->callee);
}

/* --- many ------------------------------------------------------------------ */

static gboolean doubt_is_same(const Doubt *a, const Doubt *b)
{
        return a->caller == b->caller && a->callee == b->callee && a->reason == b->reason &&
               !strcmp(a->kind, b->kind);
}

static guint64 sum(guint64 a, guint64 b)
{
        return a > G_MAXUINT64 - b ? G_MAXUINT64 : a + b;
}

static void merge_into(Doubt *to, const Doubt *from)
{
        to->count = sum(to->count, from->count);
        to->of = sum(to->of, from->of);
        to->bytes = sum(to->bytes, from->bytes);
        to->of_bytes = sum(to->of_bytes, from->of_bytes);
}

void doubts_add(GArray *doubts, const Doubt *doubt)
{
        for (guint i = 0; i < doubts->len; i++)
                if (doubt_is_same(&g_array_index(doubts, Doubt, i), doubt)) {
                        merge_into(&g_array_index(doubts, Doubt, i), doubt);
                        return;
                }
        g_array_append_val(doubts, *doubt);
}

GArray *doubts_from_facts(char *const *facts, guint n, NodeTable *nodes)
{
        GArray *doubts = g_array_new(FALSE, FALSE, sizeof(Doubt));
        Doubt doubt;

        for (guint i = 0; i < n; i++)
                if (doubt_from_fact(&doubt, facts[i], nodes))
                        doubts_add(doubts, &doubt);
        doubts_sort(doubts, nodes);
        return doubts;
}

static int compare_doubts(gconstpointer a, gconstpointer b, gpointer nodes)
{
        const Doubt *x = a, *y = b;
        DoubtClass of_x = doubt_class(x->reason), of_y = doubt_class(y->reason);

        return COMPARE(of_x, of_y) ?:
               COMPARE(y->count, x->count) ?:
               strcmp(caller_written(x, nodes), caller_written(y, nodes)) ?:
               strcmp(node_table_written(nodes, x->callee), node_table_written(nodes, y->callee)) ?:
               COMPARE(x->reason, y->reason) ?:
               strcmp(x->kind, y->kind);
}

void doubts_sort(GArray *doubts, const NodeTable *nodes)
{
        g_array_sort_with_data(doubts, compare_doubts, (gpointer)nodes);
}

COMPARISON(compare_callees, Doubt,
           COMPARE(a->callee, b->callee) ?:
           COMPARE(a->reason, b->reason) ?:
           strcmp(a->kind, b->kind))

void doubts_fold(GArray *doubts)
{
        guint kept = 0;

        g_array_sort(doubts, compare_callees);
        for (guint i = 0, end; i < doubts->len; i = end) {
                Doubt *first = &g_array_index(doubts, Doubt, i);
                Doubt all = *first;

                for (end = i + 1; end < doubts->len; end++) {
                        const Doubt *next = &g_array_index(doubts, Doubt, end);
                        if (compare_callees(first, next))
                                break;
                        merge_into(&all, next);
                }
                all.caller = NO_NODE;
                if (end - i > MANY_CALLERS)
                        g_array_index(doubts, Doubt, kept++) = all;
                else
                        for (; i < end; i++)
                                g_array_index(doubts, Doubt, kept++) =
                                        g_array_index(doubts, Doubt, i);
        }
        g_array_set_size(doubts, kept);
}

const Doubt *doubts_find(const GArray *doubts, NodeId caller, NodeId callee)
{
        const Doubt *worst = NULL;

        EACH (const Doubt, d, doubts)
                if (d->callee == callee && doubt_class(d->reason) == DOUBT_OF_CALLS &&
                    (d->caller == caller || d->caller == NO_NODE || caller == NO_NODE) &&
                    (!worst || d->count > worst->count))
                        worst = d;
        return worst;
}

/* --- to people ------------------------------------------------------------- */

/* 12345 as "12,345". */
static void append_count(GString *text, guint64 n)
{
        char digits[24];
        int length = g_snprintf(digits, sizeof digits, N, n);

        for (int i = 0; i < length; i++) {
                if (i > 0 && (length - i) % 3 == 0)
                        g_string_append_c(text, ',');
                g_string_append_c(text, digits[i]);
        }
}

char *doubt_to_text(const Doubt *d, const NodeTable *nodes, gboolean remedy)
{
        GString *text = g_string_new(NULL);
        const char *sentence = doubt_sentence(d->reason), *colon = strchr(sentence, ':');
        int length = colon && !remedy ? (int)(colon - sentence) : -1;

        g_string_append_printf(text, "%s>%s: ", caller_written(d, nodes),
                               node_table_written(nodes, d->callee));
        append_count(text, d->count);
        g_string_append(text, " of ");
        append_count(text, d->of);
        g_string_append_printf(text, " %s", reasons[d->reason].unit);
        if (*d->kind)
                g_string_append_printf(text, " (%s)", d->kind);
        if (d->of_bytes) {
                double share = 100 * (double)d->bytes / (double)d->of_bytes;
                g_string_append_printf(text, ", %.0f %% of the bytes", share);
        }
        g_string_append_printf(text, ": %.*s", length, sentence);
        return g_string_free(text, FALSE);
}

char **doubts_to_lines(const GArray *doubts, const NodeTable *nodes)
{
        GPtrArray *lines = g_ptr_array_new();
        guint shown = doubts->len > MAX_DOUBT_LINES + 1 ? MAX_DOUBT_LINES : doubts->len;

        for (guint i = 0; i < shown; i++)
                g_ptr_array_add(lines,
                                doubt_to_text(&g_array_index(doubts, Doubt, i), nodes, TRUE));
        if (shown < doubts->len)
                g_ptr_array_add(lines, g_strdup_printf("and %u more edges", doubts->len - shown));
        g_ptr_array_add(lines, NULL);
        return (char **)g_ptr_array_free(lines, FALSE);
}
