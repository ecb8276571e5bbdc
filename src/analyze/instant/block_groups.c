/* block_groups.c: see block_groups.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "block_groups.h"

#include <errno.h>
#include <string.h>

#include "breakdown_keys.h"
#include "defs.h"

enum field { SCOPE, STACK, LABEL, CATEGORY, SPACE, THREAD };

#define BIT(field) (1u << (field))

/* A module is found by the scope, or by a label for some categories. */
static const unsigned needs[ML_KEYS] = {
    [ML_KEY_MODULE] = BIT(SCOPE) | BIT(LABEL) | BIT(CATEGORY),
    [ML_KEY_CLASS] = BIT(SCOPE) | BIT(LABEL) | BIT(CATEGORY),
    [ML_KEY_CATEGORY] = BIT(CATEGORY),
    [ML_KEY_LABEL] = BIT(LABEL),
    [ML_KEY_SCOPE] = BIT(SCOPE),
    [ML_KEY_PHASE] = BIT(SCOPE),
    [ML_KEY_THREAD] = BIT(THREAD),
    [ML_KEY_STACK] = BIT(STACK),
    [ML_KEY_FUNCTION] = BIT(STACK),
    [ML_KEY_FILE] = BIT(STACK),
    [ML_KEY_LIBRARY] = BIT(STACK),
    [ML_KEY_LINE] = BIT(STACK),
    [ML_KEY_DEVICE] = BIT(SPACE),
    [ML_KEY_SPACE] = BIT(SPACE),
    [ML_KEY_PROCESS] = BIT(SPACE),
};

int ml_block_groups_init(struct ml_block_groups *groups, const struct ml_replay *replay,
                         const enum ml_key *by, size_t by_count)
{
    bool by_module = false;
    int r;

    *groups = (struct ml_block_groups){.replay = replay, .by = by, .by_count = by_count};
    for (size_t i = 0; i < by_count; i++) {
        by_module |= by[i] == ML_KEY_MODULE;
        for (int field = 0; field < ML_BLOCK_FIELDS; field++)
            if (needs[by[i]] & BIT(field))
                groups->wanted[field] = UINT32_MAX;
    }
    r = ml_modules_init(&groups->modules, replay->trace);
    return r == 0 && by_module ? ml_recreated_modules_find(&groups->modules, &groups->alike) : r;
}

void ml_block_groups_release(struct ml_block_groups *groups)
{
    ml_modules_release(&groups->modules);
    ml_recreated_modules_release(&groups->alike);
    ml_intern_release(&groups->seen);
    ml_intern_release(&groups->keys);
    ml_map_release(&groups->lines);
    ml_vec_release(&groups->of_seen);
    *groups = (struct ml_block_groups){0};
}

/* The calls in one line of C have one frame each: the first stands for all.
 * @number  from 1
 * @return  its number, or -ENOMEM */
static int64_t first_of_line(struct ml_block_groups *groups, int64_t number)
{
    const struct ml_frame *frame;
    uint64_t place, first;

    frame = ml_trace_frame(groups->replay->trace, (uint32_t)(number - 1));
    place = (uint64_t)frame->file << 32 | frame->line;
    if (frame->kind == ML_FRAME_PYTHON)
        return number;
    if (ml_map_get(&groups->lines, place, &first))
        return (int64_t)first;
    return ml_map_put(&groups->lines, place, (uint64_t)number) < 0 ? -ENOMEM : number;
}

static int64_t find_group(struct ml_block_groups *groups, const struct ml_block *block)
{
    uint32_t keys[ML_KEYS];

    for (size_t i = 0; i < groups->by_count; i++) {
        int64_t number = ml_key_of(groups->by[i], groups->replay, &groups->modules, block);

        if (groups->by[i] == ML_KEY_LINE && number > 0)
            number = first_of_line(groups, number);
        if (number < 0)
            return -ENOMEM;
        keys[i] = groups->by[i] == ML_KEY_MODULE
                      ? ml_recreated_first(&groups->alike, (uint32_t)number)
                      : (uint32_t)number;
    }
    return ml_intern_put(&groups->keys, keys, groups->by_count * sizeof(keys[0]), NULL);
}

int64_t ml_block_group_of(struct ml_block_groups *groups, const struct ml_block *block)
{
    const uint32_t *wanted = groups->wanted;
    const uint32_t fields[ML_BLOCK_FIELDS] = {
        [SCOPE] = block->scope & wanted[SCOPE],
        [STACK] = block->stack & wanted[STACK],
        [LABEL] = block->label & wanted[LABEL],
        [SPACE] = block->space & wanted[SPACE],
        [CATEGORY] = block->category & wanted[CATEGORY],
        [THREAD] = ml_block_thread(block) & wanted[THREAD],
    };
    int64_t seen, group;

    if (groups->last > 0 && memcmp(fields, groups->last_fields, sizeof(fields)) == 0)
        return groups->last - 1;
    seen = ml_intern_put(&groups->seen, fields, sizeof(fields), NULL);
    if (seen < 0 ||
        (size_t)seen > groups->of_seen.len) /* the second: an earlier call ran out of memory */
        return -ENOMEM;
    if ((size_t)seen == groups->of_seen.len) {
        group = find_group(groups, block);
        if (group < 0 || ml_vec_push(&groups->of_seen, (uint32_t)group) < 0)
            return -ENOMEM;
    }
    memcpy(groups->last_fields, fields, sizeof(fields));
    groups->last = groups->of_seen.items[seen] + 1;
    return groups->last - 1;
}

void ml_block_group_keys(const struct ml_block_groups *groups, uint32_t group,
                         uint32_t ret[ML_KEYS])
{
    memset(ret, 0, ML_KEYS * sizeof(ret[0]));
    memcpy(ret, ml_intern_get(&groups->keys, group, NULL), groups->by_count * sizeof(ret[0]));
}

int ml_block_group_names(const struct ml_block_groups *groups, uint32_t group,
                         struct ml_arena *arena, const char *ret[ML_KEYS])
{
    uint32_t keys[ML_KEYS];

    ml_block_group_keys(groups, group, keys);
    for (size_t i = 0; i < groups->by_count; i++) {
        ret[i] = ml_key_text(groups->by[i], groups->replay, &groups->modules, keys[i], arena);
        if (!ret[i])
            return -ENOMEM;
    }
    return 0;
}
