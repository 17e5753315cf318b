/* SPDX-License-Identifier: BSD-2-Clause */
#include "maketrace/delay-law.h"

static const struct {
        const char *name;
        DelayLawKind kind;
} named_laws[] = {
        { "exp", LAW_EXPONENTIAL },
        { "lognormal", LAW_LOGNORMAL },
        { "uniform", LAW_UNIFORM },
};

#define LONGEST_DELAY 1e17

/* Skips the name of a law and "(": its index in named_laws, or -1 if there is none. */
static int named_law_at(TextCursor *c)
{
        gsize begin = c->at;

        for (guint i = 0; i < G_N_ELEMENTS(named_laws); i++) {
                if (text_cursor_accept(c, named_laws[i].name) && text_cursor_accept(c, "("))
                        return i;
                c->at = begin;
        }
        return -1;
}

gboolean delay_law_at(const TextCursor *c)
{
        TextCursor ahead = *c;
        double ns;

        return text_cursor_duration(&ahead, &ns) || named_law_at(&ahead) >= 0;
}

static gboolean parse_law_duration(TextCursor *c, double *ns, GError **error)
{
        text_cursor_skip_blanks(c);
        if (text_cursor_duration(c, ns))
                return TRUE;
        return text_cursor_fail_here(c, error,
                                     "a number with a unit (ns, us, ms, s, min, h), such as 5ms");
}

static gboolean parse_named(TextCursor *c, DelayLaw *law, GError **error)
{
        gsize second;

        if (!parse_law_duration(c, &law->a, error))
                return FALSE;
        if (law->kind != LAW_EXPONENTIAL && !text_cursor_expect(c, ",", error))
                return FALSE;
        text_cursor_skip_blanks(c);
        second = c->at;
        if (law->kind == LAW_UNIFORM) {
                if (!parse_law_duration(c, &law->b, error))
                        return FALSE;
                if (law->b < law->a)
                        return text_cursor_fail(c, second, c->at - second, error,
                                                "a time that is not below the first");
        }
        if (law->kind == LAW_LOGNORMAL && (!text_cursor_number(c, &law->b) || law->b > 10)) {
                c->at = second;
                return text_cursor_fail_here(
                        c, error, "a number from 0 to 10, the deviation of the logarithm");
        }
        return text_cursor_expect(c, ")", error);
}

gboolean delay_law_parse(TextCursor *c, DelayLaw *law, GError **error)
{
        int named;

        text_cursor_skip_blanks(c);
        named = named_law_at(c);
        *law = (DelayLaw){ named < 0 ? LAW_CONSTANT : named_laws[named].kind, 0, 0 };
        if (named >= 0)
                return parse_named(c, law, error);
        if (!text_cursor_duration(c, &law->a))
                return text_cursor_fail_here(c, error, DELAY_LAW_EXPECTED);
        if (!text_cursor_accept(c, "~"))
                return TRUE;
        law->kind = LAW_GAUSSIAN;
        return parse_law_duration(c, &law->b, error);
}

gint64 delay_law_draw(const DelayLaw *law, Random *random, const Ziggurat *ziggurat)
{
        double ns = law->a;

        switch (law->kind) {
        case LAW_CONSTANT:
                break;
        case LAW_GAUSSIAN:
                ns += law->b * random_gaussian(random, ziggurat);
                break;
        case LAW_EXPONENTIAL:
                ns *= random_exponential(random);
                break;
        case LAW_LOGNORMAL:
                ns *= portable_exp(law->b * random_gaussian(random, ziggurat));
                break;
        case LAW_UNIFORM:
                ns += (law->b - law->a) * random_uniform(random);
                break;
        }
        return (gint64)(CLAMP(ns, 0, LONGEST_DELAY) + 0.5);
}
