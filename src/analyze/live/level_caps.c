/* level_caps.c: see level_caps.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "level_caps.h"

#include <errno.h>

#include "replay_spaces.h"

static uint32_t highest(uint32_t bits)
{
    uint32_t level = 0;

    while (bits >>= 1)
        level++;
    return level;
}

static int note_space(struct ml_level_caps *caps, const struct ml_trace *trace,
                      const struct ml_space *space)
{
    uint32_t len;
    const char *name = ml_trace_string(trace, space->device, &len);
    int64_t device = ml_intern_put(&caps->devices, name, len, NULL);

    if (device < 0)
        return -ENOMEM;
    while ((size_t)device >= caps->list.len)
        if (ml_vec_push(&caps->list, (struct ml_level_cap){0}) < 0)
            return -ENOMEM;
    caps->list.items[device].reading |= 1u << ml_replay_level_of(space);
    return 0;
}

int ml_level_caps_add(struct ml_level_caps *caps, const struct ml_trace *trace)
{
    uint32_t count = ml_trace_spaces(trace);

    for (uint32_t i = 0; i < count; i++) {
        const struct ml_space *space = ml_trace_space(trace, i);

        if (space->level != 0 && note_space(caps, trace, space) < 0)
            return -ENOMEM;
    }
    for (size_t i = 0; i < caps->list.len; i++) {
        struct ml_level_cap *cap = &caps->list.items[i];

        if (cap->reading)
            cap->common = cap->any ? cap->common & cap->reading : cap->reading;
        cap->any |= cap->reading;
        cap->reading = 0;
    }
    return 0;
}

void ml_level_caps_release(struct ml_level_caps *caps)
{
    ml_intern_release(&caps->devices);
    ml_vec_release(&caps->list);
    *caps = (struct ml_level_caps){0};
}

uint32_t ml_level_cap(const struct ml_level_caps *caps, const char *device, size_t len)
{
    int64_t number = caps ? ml_intern_find(&caps->devices, device, len) : -ENOENT;

    return number >= 0 ? highest(caps->list.items[number].common) : 0;
}

const char *ml_level_caps_next(const struct ml_level_caps *caps, uint32_t *cursor,
                               uint32_t *ret_level)
{
    while (caps && *cursor < caps->list.len) {
        uint32_t i = (*cursor)++;
        const struct ml_level_cap *cap = &caps->list.items[i];

        *ret_level = highest(cap->common);
        if (*ret_level > 0 && *ret_level < highest(cap->any))
            return ml_intern_get(&caps->devices, i, NULL);
    }
    return NULL;
}
