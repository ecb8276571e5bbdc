/* chrome_memory_curves.c: see chrome_memory_curves.h.
 *
 * The replay has sums by device and by category, but not by both. An event usually changes one
 * device, so its changes to the categories belong to that device. After an event that changes
 * more (the end of a process), the sums are computed again from the live blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "chrome_memory_curves.h"

#include <errno.h>
#include <string.h>

#include "compiler.h"
#include "event_names.h"
#include "samples.h"

enum { LIVE_KEY = 1, LEVEL_KEY = 2, SAMPLE_KEY = 3, KEY_SHIFT = 60 };
/* Added to the process of a sample. */
#define SHARE_BIT (UINT64_C(1) << 27)

void ml_chrome_memory_init(struct ml_chrome_memory *m, struct ml_chrome *chrome,
                           const struct ml_replay *replay)
{
    *m = (struct ml_chrome_memory){.replay = replay};
    ml_chrome_gauges_init(&m->gauges, chrome);
    for (uint64_t i = 0; i < ML_CATEGORIES; i++)
        m->category_names[i] = ml_category_name(i);
}

void ml_chrome_memory_release(struct ml_chrome_memory *m)
{
    ml_chrome_gauges_release(&m->gauges);
    ml_vec_release(&m->devices);
    ml_intern_release(&m->sampled);
}

/* ---- Devices by category ------------------------------------------------ */

static int grow(struct ml_chrome_memory *m)
{
    while (m->devices.len < m->replay->devices.len)
        if (ml_vec_push(&m->devices, (struct ml_device_curve){0}) < 0)
            return -ENOMEM;
    return 0;
}

_Static_assert(ML_CATEGORIES <= ML_GAUGE_VALUES, "a value for each category");

static const char *device_name(const struct ml_chrome_memory *m, uint32_t device)
{
    return ml_intern_get(&m->replay->device_names, device, NULL);
}

static void set_gauge(struct ml_chrome_memory *m, uint64_t key, const struct ml_chrome_gauge *like,
                      uint64_t time_ns, const uint64_t *values)
{
    struct ml_chrome_gauge *gauge = ml_chrome_gauge(&m->gauges, key, like);

    if (gauge)
        ml_chrome_gauge_set(&m->gauges, gauge, time_ns, values);
    else
        m->error = -ENOMEM;
}

static void show_live(struct ml_chrome_memory *m, uint32_t device, uint64_t time_ns)
{
    struct ml_chrome_gauge like = {.device = device_name(m, device),
                                   .what = "live",
                                   .pid = ML_CHROME_MACHINE_PID,
                                   .names = m->category_names,
                                   .count = ML_CATEGORIES};

    set_gauge(m, (uint64_t)LIVE_KEY << KEY_SHIFT | device, &like, time_ns,
              m->devices.items[device].categories);
}

/* Only if there are levels above that of the blocks. */
static void show_levels(struct ml_chrome_memory *m, uint32_t device, uint64_t time_ns)
{
    static const char *const names[] = {"driver", "pool", "block"};
    const struct ml_gauge *levels = m->replay->devices.items[device].levels;
    const uint64_t values[] = {levels[1].live_bytes, levels[2].live_bytes, levels[3].live_bytes};
    struct ml_chrome_gauge like = {.device = device_name(m, device),
                                   .what = "by level",
                                   .pid = ML_CHROME_MACHINE_PID,
                                   .names = names,
                                   .count = ML_ARRAY_SIZE(names)};

    if (levels[1].peak_bytes > 0 || levels[2].peak_bytes > 0)
        set_gauge(m, (uint64_t)LEVEL_KEY << KEY_SHIFT | device, &like, time_ns, values);
}

static void recount(struct ml_chrome_memory *m, uint64_t time_ns)
{
    const struct ml_block *block;
    size_t cursor = 0;

    for (size_t i = 0; i < m->devices.len; i++)
        memset(m->devices.items[i].categories, 0, sizeof(m->devices.items[i].categories));
    while ((block = ml_replay_next(m->replay, false, &cursor)))
        m->devices.items[m->replay->spaces.items[block->space].device]
            .categories[block->category] += block->size;
    for (uint32_t i = 0; i < m->devices.len; i++)
        show_live(m, i, time_ns);
}

/* Attributes the event's changes to the device. */
static void attribute(struct ml_chrome_memory *m, uint32_t device, uint64_t time_ns)
{
    for (size_t i = 0; i < ML_CATEGORIES; i++)
        m->devices.items[device].categories[i] +=
            m->replay->categories[i].bytes.live_bytes - m->categories[i];
    show_live(m, device, time_ns);
}

static bool has_changed(const struct ml_chrome_memory *m)
{
    for (size_t i = 0; i < ML_CATEGORIES; i++)
        if (m->replay->categories[i].bytes.live_bytes != m->categories[i])
            return true;
    return false;
}

static void remember(struct ml_chrome_memory *m)
{
    m->total_bytes = m->replay->bytes.live_bytes;
    for (size_t i = 0; i < ML_CATEGORIES; i++)
        m->categories[i] = m->replay->categories[i].bytes.live_bytes;
    for (size_t i = 0; i < m->devices.len; i++)
        m->devices.items[i].device_bytes = m->replay->devices.items[i].bytes.live_bytes;
}

/* The device of the event if it is the only one that changed, else -1. */
static int64_t changed_device(const struct ml_chrome_memory *m, const struct ml_event *event)
{
    uint64_t index;
    uint32_t device;

    if (!(ml_shapes[event->kind].bits & ML_HAS_ADDR) ||
        !ml_map_get(&m->replay->space_index, event->space, &index))
        return -1;
    device = m->replay->spaces.items[index].device;
    return m->replay->devices.items[device].bytes.live_bytes -
                       m->devices.items[device].device_bytes ==
                   m->replay->bytes.live_bytes - m->total_bytes
               ? (int64_t)device
               : -1;
}

static void follow_blocks(struct ml_chrome_memory *m, const struct ml_event *event)
{
    int64_t device = changed_device(m, event);

    if (device >= 0)
        show_levels(m, (uint32_t)device, event->time_ns);
    if (!has_changed(m))
        return;
    if (device >= 0)
        attribute(m, (uint32_t)device, event->time_ns);
    else
        recount(m, event->time_ns);
    remember(m);
}

/* ---- Samples ------------------------------------------------------------ */

/* @about  0, or a key that distinguishes values of one device */
static void show_sample(struct ml_chrome_memory *m, const char *device, const char *what,
                        uint32_t pid, uint64_t about, uint64_t time_ns, uint64_t value)
{
    static const char *const names[] = {"bytes"};
    int64_t number = ml_intern_put(&m->sampled, device, strlen(device), NULL);
    struct ml_chrome_gauge like = {
        .device = device, .what = what, .pid = pid, .names = names, .count = 1};

    if (number < 0)
        m->error = -ENOMEM;
    else
        set_gauge(m, (uint64_t)SAMPLE_KEY << KEY_SHIFT | about << 32 | (uint64_t)number, &like,
                  time_ns, &value);
}

static void follow_sample(struct ml_chrome_memory *m, const struct ml_event *event)
{
    const char *device = ml_trace_string(m->gauges.chrome->trace, (uint32_t)event->args[0], NULL);
    uint32_t process;

    if (event->args[1] & ML_SAMPLE_USED)
        show_sample(m, device, "used (sampled)", ML_CHROME_MACHINE_PID, 0, event->time_ns,
                    event->args[2]);
    if (event->args[1] & ML_SAMPLE_BY_PROCESS && ml_sample_about(event, &process)) {
        bool by_share = event->args[1] & ML_SAMPLE_SHARE;

        show_sample(m, device, by_share ? "by share (sampled)" : "of the process (sampled)",
                    ml_chrome_pid(m->gauges.chrome, process),
                    (by_share ? SHARE_BIT : 0) | ((uint64_t)process + 1), event->time_ns,
                    event->args[5]);
    }
}

/* ---- All ---------------------------------------------------------------- */

void ml_chrome_memory_event(struct ml_chrome_memory *m, const struct ml_event *event)
{
    if (m->error == 0 && event->kind == ML_SAMPLE)
        follow_sample(m, event);
    if (m->error == 0 && m->devices.len < m->replay->devices.len)
        m->error = grow(m);
    if (m->error == 0)
        follow_blocks(m, event);
}
