/* source_stacks.c: see source_stacks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "source_stacks.h"

#include <stdlib.h>

#include "record_words.h"

void ml_source_stacks_free(struct ml_source_stacks *stacks)
{
    if (stacks)
        ml_vec_release(&stacks->numbers);
    free(stacks);
}

/* Goes on from the last frame that the stack shares with the one before, beginning outermost. */
static uint32_t node_of(struct ml_dict *dict, struct ml_source *s, struct ml_source_stacks *last)
{
    uint32_t n = ml_low(ml_word(s, 1)), shared = 0, node = 0;

    if (last->libraries == s->target->libraries_version) {
        while (shared < n && shared < last->n && last->frames[shared] == ml_word(s, 1 + n - shared))
            shared++;
    }
    node = shared ? last->nodes[shared - 1] : 0;
    for (uint32_t i = shared; i < n; i++) {
        last->frames[i] = ml_word(s, 1 + n - i);
        node = ml_dict_stack(dict, node, ml_target_frame(dict, s->target, last->frames[i]));
        last->nodes[i] = node;
    }
    last->n = n;
    last->libraries = s->target->libraries_version;
    return node;
}

void ml_source_take_stack(struct ml_dict *dict, struct ml_source *s)
{
    uint32_t number = ml_high(ml_word(s, 1));

    if (!s->stacks)
        s->stacks = calloc(1, sizeof(*s->stacks));
    if (!s->stacks || !number ||
        !ml_table_reach(&s->stacks->numbers, number, ML_RING_STACKS_MAX + 1))
        dict->unkept += !s->stacks;
    else
        s->stacks->numbers.items[number] = node_of(dict, s, s->stacks);
}
