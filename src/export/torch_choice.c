/* torch_choice.c: chooses the devices and the process of a snapshot. A PyTorch snapshot shows
 * one process; this takes the one with the most memory on those devices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_spaces.h"
#include "instant.h"
#include "memledger/memledger.h"
#include "samples.h"
#include "snapshot_parts.h"

/* "cuda:1" -> 1; -1: not a GPU. */
static int64_t gpu_number(const char *name)
{
    size_t len = strlen(ML_CUDA_DEVICE_PREFIX);
    char *end;
    unsigned long number;

    if (strncmp(name, ML_CUDA_DEVICE_PREFIX, len) != 0)
        return -1;
    number = strtoul(name + len, &end, 10);
    return *end == '\0' && end > name + len && number < ML_TORCH_DEVICES_MAX ? (int64_t)number : -1;
}

static int add_device(struct ml_snapshot_export *s, const char *name)
{
    int64_t number = gpu_number(name);

    return ml_vec_push(&s->devices, (struct ml_snapshot_device){
                                        .name = name,
                                        .number = number < 0 ? 0 : (uint32_t)number,
                                    });
}

static int by_number(const void *a, const void *b)
{
    const struct ml_snapshot_device *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

/* The trace's copy of the name, which outlives the replay. */
static const char *lasting_name(const struct ml_trace *trace, const char *name)
{
    for (uint32_t i = 0; i < ml_trace_spaces(trace); i++) {
        const char *device = ml_trace_string(trace, ml_trace_space(trace, i)->device, NULL);

        if (strcmp(device, name) == 0)
            return device;
    }
    return "?";
}

/* Without a GPU: the host, or the first device. */
static const char *other_device(const struct ml_replay *all)
{
    int64_t host = ml_intern_find(&all->device_names, ML_HOST_DEVICE, strlen(ML_HOST_DEVICE));

    return ml_intern_get(&all->device_names, host < 0 ? 0 : (uint32_t)host, NULL);
}

static int choose_devices(struct ml_snapshot_export *s, const struct ml_replay *all,
                          const char *asked)
{
    uint32_t count = ml_intern_len(&all->device_names);
    int r = 0;

    for (uint32_t i = 0; r == 0 && i < count; i++) {
        const char *name = ml_intern_get(&all->device_names, i, NULL);

        if (asked ? ml_device_is(name, asked) : gpu_number(name) >= 0)
            r = add_device(s, lasting_name(s->trace, name));
    }
    if (r == 0 && s->devices.len == 0 && count > 0)
        r = add_device(s, lasting_name(s->trace, other_device(all)));
    if (r == 0)
        ml_vec_sort(&s->devices, by_number);
    return r;
}

static const struct ml_snapshot_device *device_of(const struct ml_snapshot_export *s,
                                                  const struct ml_replay *all,
                                                  const struct ml_replay_space *space)
{
    const char *name = ml_intern_get(&all->device_names, space->device, NULL);

    for (size_t i = 0; i < s->devices.len; i++)
        if (strcmp(s->devices.items[i].name, name) == 0)
            return &s->devices.items[i];
    return NULL;
}

static void choose_process(struct ml_snapshot_export *s, const struct ml_replay *all)
{
    uint64_t most = 0;

    for (size_t p = 0; p < all->processes.len; p++) {
        uint64_t bytes = 0;

        for (size_t i = 0; i < all->spaces.len; i++) {
            const struct ml_replay_space *space = &all->spaces.items[i];

            if (space->process == p && space->counted && device_of(s, all, space))
                bytes += space->bytes.peak_bytes;
        }
        if (p == 0 || bytes > most) {
            s->process = all->processes.items[p].number;
            most = bytes;
        }
    }
}

/* Whether a pool splits up the allocations of this space, and not memory that the driver keeps
 * for itself or that has no addresses. */
static bool holds_segments(const struct ml_trace *trace, const struct ml_replay_space *space)
{
    static const char *const own[] = {ML_CUDA_DRIVERS_OWN, ML_CUDA_ARRAYS, ML_CUDA_POOLS,
                                      ML_CUDA_GRAPHS};
    const char *name = ml_trace_string(trace, ml_trace_space(trace, space->number)->name, NULL);

    for (size_t i = 0; i < ML_ARRAY_SIZE(own); i++)
        if (strcmp(name, own[i]) == 0)
            return false;
    return !space->counted && space->level < MEMLEDGER_BLOCK;
}

/* Segments are those of the pool if it was recorded, else the driver's allocations. */
static void choose_segments(struct ml_snapshot_export *s, const struct ml_replay *all)
{
    for (size_t i = 0; i < all->spaces.len; i++) {
        const struct ml_replay_space *space = &all->spaces.items[i];
        const struct ml_snapshot_device *found = device_of(s, all, space);
        struct ml_snapshot_device *device =
            found ? &s->devices.items[found - s->devices.items] : NULL;

        if (device && all->processes.items[space->process].number == s->process &&
            space->allocations > 0 && holds_segments(s->trace, space) &&
            space->level > device->segments)
            device->segments = space->level;
    }
}

int ml_torch_choose(struct ml_snapshot_export *s, const char *asked, struct ml_error *err)
{
    struct ml_replay all;
    int64_t device;
    int r = ml_replay_init(&all, s->trace);

    if (r == 0)
        r = ml_instant_device(&all, asked, &device, err);
    if (r == 0)
        r = ml_replay_trace(&all, UINT64_MAX, err);
    if (r == 0)
        r = choose_devices(s, &all, asked);
    if (r == 0) {
        choose_process(s, &all);
        choose_segments(s, &all);
    }
    ml_replay_release(&all);
    return r;
}

enum ml_torch_role ml_torch_role(const struct ml_snapshot_export *s, const struct ml_block *block)
{
    const struct ml_replay_space *space = &s->replay.spaces.items[block->space];

    if (space->device != s->device_index || block->size == 0 ||
        s->replay.processes.items[space->process].number != s->process)
        return ML_TORCH_NOTHING;
    if (space->counted)
        return ML_TORCH_BLOCK;
    return space->level == s->device->segments && holds_segments(s->trace, space)
               ? ML_TORCH_SEGMENT
               : ML_TORCH_NOTHING;
}
