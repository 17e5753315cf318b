/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Header blocks, each after a byte with its length: whole and in two pieces they must
 * say the same, and all memory must come back.
 */
#include <string.h>

#include "capture/protocol/header-labels.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        gsize memory = 0;
        HeaderLabels *whole = header_labels_new(&memory), *cut = header_labels_new(&memory);
        HeaderLabels *answers = header_labels_new(&memory);
        GString *label = g_string_new(NULL), *other = g_string_new(NULL);
        GString *values = g_string_new(NULL), *also_values = g_string_new(NULL);
        Outcome outcome = OUTCOME_OK, also_outcome = OUTCOME_OK;
        gboolean sound = TRUE;
        while (sound && n > 0) {
                gsize block = MIN(data[0], n - 1), first = block / 2;
                g_autofree guint8 *copy =
                        g_memdup2(data, block + 1); /* ends where the block does */
                const guint8 *bytes = copy + 1;
                Outcome answer = OUTCOME_OK;
                outcome = also_outcome = OUTCOME_OK;
                g_string_truncate(label, 0);
                g_string_truncate(other, 0);
                sound = header_labels_read(whole, bytes, block, TRUE, label, values, &outcome);
                gboolean also = header_labels_read(cut, bytes, first, FALSE, other, also_values,
                                                   &also_outcome) &&
                                header_labels_read(cut, bytes + first, block - first, TRUE, other,
                                                   also_values, &also_outcome);
                g_assert(sound == also && strcmp(label->str, other->str) == 0);
                g_assert(!sound || g_string_equal(values, also_values));
                g_assert(sound ==
                         header_labels_read_answer(answers, bytes, block, TRUE, other, &answer));
                g_assert(!sound || (outcome == answer && outcome == also_outcome));
                data += 1 + block;
                n -= 1 + block;
        }
        g_string_free(label, TRUE);
        g_string_free(other, TRUE);
        g_string_free(values, TRUE);
        g_string_free(also_values, TRUE);
        header_labels_free(whole);
        header_labels_free(cut);
        header_labels_free(answers);
        g_assert(memory == 0);
        return 0;
}
