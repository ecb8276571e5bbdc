/* import_torch.c: snapshots of PyTorch's CUDA allocator (torch_snapshot.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import_formats.h"
#include "torch_device.h"

/* Far more than a process can have. */
#define DEVICES_MOST 1024

static int too_many_devices(const struct ml_torch_snapshot *t, struct ml_error *err)
{
    return ml_error_set(err, -EINVAL, "%s: has more than %d devices; it is damaged",
                        t->source->name, DEVICES_MOST);
}

static int count_devices(const struct ml_torch_snapshot *t, uint32_t *ret, struct ml_error *err)
{
    uint32_t count = 0;

    if (t->traces.len > DEVICES_MOST)
        return too_many_devices(t, err);
    for (uint32_t i = 0; i < t->traces.len; i++)
        if (t->traces.items[i].count)
            count = i + 1;
    for (size_t i = 0; i < t->segments.len; i++) {
        uint32_t device = t->segments.items[i].device;

        if (device >= DEVICES_MOST)
            return too_many_devices(t, err);
        if (device >= count)
            count = device + 1;
    }
    *ret = count;
    return 0;
}

/* Before PyTorch 2.1 entries had no time: this numbers them in order. */
static void number_without_times(struct ml_torch_snapshot *t)
{
    for (size_t i = 0; i < t->entries.len; i++)
        if (!t->entries.items[i].has_time)
            t->entries.items[i].time_us = i > 0 ? t->entries.items[i - 1].time_us + 1 : 0;
}

static void find_times(struct ml_torch_snapshot *t, uint64_t *ret_start_us)
{
    uint64_t start = UINT64_MAX;
    bool all = t->entries.len > 0;

    for (size_t i = 0; i < t->entries.len; i++)
        all &= t->entries.items[i].has_time;
    if (!all) {
        ml_import_unknown(t->sink, ML_UNKNOWN_TIMES);
        number_without_times(t);
    }
    for (size_t i = 0; i < t->traces.len; i++)
        if (t->traces.items[i].count)
            start = ml_min_u64(start, t->entries.items[t->traces.items[i].first].time_us);
    for (size_t i = 0; i < t->annotations.len; i++)
        start = ml_min_u64(start, t->annotations.items[i].time_us);
    *ret_start_us = start == UINT64_MAX ? 0 : start;
    if (all && *ret_start_us < UINT64_MAX / 1000)
        t->sink->start_wall_ns = *ret_start_us * 1000;
}

static int look_at_stack(struct ml_torch_snapshot *t, uint32_t stack)
{
    return stack == 0 || ml_torch_place_of(&t->places, stack) ? 0 : -ENOMEM;
}

/* Before PyTorch 2.1, and with context="alloc", a free has the stack of the allocation, which says
 * nothing about the free. @return 0 or -ENOMEM */
static int look_at_action(struct ml_torch_snapshot *t, struct ml_map *stack_at,
                          const struct ml_torch_history_entry *e)
{
    uint64_t allocated;

    if (e->action == ML_TORCH_ALLOC) {
        t->allocs_have_stacks |= e->stack != 0;
        t->allocs_lack_stacks |= e->stack == 0;
        return ml_map_put(stack_at, e->addr, e->stack);
    }
    if (e->action == ML_TORCH_FREE_REQUESTED && ml_map_take(stack_at, e->addr, &allocated))
        t->frees_have_stacks |= e->stack != 0 && e->stack != allocated;
    return 0;
}

/* @return 0 or -ENOMEM */
static int look_at_stacks(struct ml_torch_snapshot *t)
{
    struct ml_map stack_at = {0}; /* address -> stack of the allocation */
    int r;

    t->places.dict = &t->sink->dict;
    r = ml_torch_places_learn(&t->places);
    for (size_t i = 0; i < t->blocks.len && r == 0; i++)
        r = look_at_stack(t, t->blocks.items[i].stack);
    for (size_t i = 0; i < t->entries.len && r == 0; i++) {
        r = look_at_stack(t, t->entries.items[i].stack);
        if (r == 0)
            r = look_at_action(t, &stack_at, &t->entries.items[i]);
    }
    ml_map_release(&stack_at);
    if (r == 0 && t->places.telling)
        ml_dict_config(&t->sink->dict, ML_SETTING_IMPORT_INFERRED, ML_INFERRED_CATEGORIES);
    return r;
}

/* The device with the earliest next entry; NULL at the end. */
static struct ml_torch_device *earliest(struct ml_torch_device *devices, uint32_t count)
{
    struct ml_torch_device *found = NULL;
    uint64_t when, first = 0;

    for (uint32_t i = 0; i < count; i++)
        if (ml_torch_next_us(&devices[i], &when) && (!found || when < first)) {
            found = &devices[i];
            first = when;
        }
    return found;
}

static int put_devices(struct ml_torch_device *devices, uint32_t count)
{
    struct ml_torch_device *d;
    uint64_t now_ns = 0;
    int r = 0;

    for (uint32_t i = 0; i < count && r == 0; i++)
        r = ml_torch_put_past(&devices[i]);
    while (r == 0 && (d = earliest(devices, count))) {
        d->now_ns = now_ns; /* a common clock: a device's own times may go back */
        r = ml_torch_put_next(d);
        now_ns = d->now_ns;
    }
    return r;
}

static int put_trace(struct ml_torch_snapshot *t, struct ml_error *err)
{
    struct ml_torch_device *devices = NULL;
    uint64_t start_us;
    uint32_t count = 0, made = 0;
    int r = count_devices(t, &count, err);

    if (r < 0)
        return r;
    find_times(t, &start_us);
    r = look_at_stacks(t);
    devices = calloc(count ? count : 1, sizeof(*devices));
    if (!devices)
        r = -ENOMEM;
    while (r == 0 && made < count) {
        r = ml_torch_device_init(&devices[made], t, made, start_us);
        made++;
    }
    if (r == 0)
        r = put_devices(devices, count);
    for (uint32_t i = 0; i < made; i++)
        ml_torch_device_release(&devices[i]);
    free(devices);
    return r < 0 ? ml_pickle_no_memory(&t->machine, err) : 0;
}

static int run(struct ml_import_source *source, struct ml_import_sink *sink, struct ml_error *err)
{
    struct ml_torch_snapshot t;
    int r = ml_torch_snapshot_read(&t, source, sink, err);

    if (r == 0)
        r = put_trace(&t, err);
    ml_torch_snapshot_release(&t);
    return r;
}

/* PROTO and a version, and the names of the dict's keys if they are near the start. */
static int recognise(const uint8_t *head, size_t len)
{
    if (!head || len < 3 || head[0] != 0x80 || head[1] < 2 || head[1] > 5)
        return 0;
    return memmem(head, len, "segments", 8) || memmem(head, len, "total_size", 10) ? 95 : 50;
}

const struct ml_import_format ml_import_torch = {
    .name = "torch-snapshot",
    .help = "torch.cuda.memory._dump_snapshot(), a pickle of the CUDA allocator's state",
    .recognise = recognise,
    .run = run,
};
