/* source_labels.c: see source_labels.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "source_labels.h"

#include <stdio.h>

#include "record_words.h"

#define LABEL_ROOM (2 * ML_NAME_MAX_BYTES + 1) /* for two names */

void ml_source_expect(struct ml_source *s)
{
    struct ml_target *t = s->target;
    uint64_t pair = ml_word(s, 2);
    uint32_t label = ml_target_string(t, ml_low(pair));

    if (label)
        ml_expected_add(&t->expected, ml_word(s, 1), ml_high(pair), label);
    else
        ml_expected_forget(&t->expected, ml_word(s, 1));
}

void ml_source_expect_output(struct ml_source *s)
{
    uint64_t pair = ml_word(s, 2);

    ml_outputs_add(&s->outputs,
                   (struct ml_work_output){.size = ml_word(s, 1),
                                           .category = ml_high(pair),
                                           .label = ml_target_string(s->target, ml_low(pair))});
}

static uint32_t join(struct ml_dict *dict, uint32_t a, uint32_t b)
{
    char text[LABEL_ROOM];
    int n = snprintf(text, sizeof(text), "%s%s", ml_dict_text(dict, a), ml_dict_text(dict, b));

    return ml_dict_string(dict, text, ml_min_u64((uint64_t)n, ML_NAME_MAX_BYTES));
}

static bool find(struct ml_source *s, uint32_t *ret_category, uint32_t *ret_label)
{
    struct ml_target *t = s->target;
    uint64_t size = ml_word(s, 4);
    struct ml_work_output output;

    if (ml_expected_find(&t->expected, ml_word(s, 2), ret_category, ret_label))
        return true;
    if (!ml_outputs_take_waiting(&t->waiting, s->place.outputs, size, &output) &&
        !ml_outputs_take(&s->outputs, size, &output))
        return false;
    *ret_category = output.category;
    *ret_label = output.label;
    return true;
}

bool ml_source_label_expected(struct ml_dict *dict, struct ml_source *s, struct ml_event *ev)
{
    uint32_t end = ml_target_string(s->target, (uint32_t)ml_word(s, 3));
    uint32_t category, label;

    if (!find(s, &category, &label))
        return false;
    ev->kind = ML_LABEL;
    ev->addr = ml_word(s, 1);
    ev->args[0] = end ? join(dict, label, end) : label;
    ev->args[1] = category;
    return true;
}
