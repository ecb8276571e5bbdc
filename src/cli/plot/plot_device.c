/* plot_device.c: see plot_device.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plot_device.h"

#include <errno.h>
#include <string.h>

#include "checkpoints.h"

#define GPU "cuda:"

struct device {
    const char *name;
    uint64_t peak_bytes; /* the highest of all recordings */
    size_t runs;         /* that have memory on it */
};

typedef ML_VEC(struct device) device_list;

static int add_device(device_list *list, struct ml_canvas *canvas, const char *name, uint64_t peak)
{
    for (size_t i = 0; i < list->len; i++) {
        struct device *d = &list->items[i];

        if (strcmp(d->name, name))
            continue;
        d->peak_bytes = ml_max_u64(d->peak_bytes, peak);
        d->runs++;
        return 0;
    }
    return ml_vec_push(list, ((struct device){ml_canvas_printf(canvas, "%s", name), peak, 1}));
}

/* @pid  0: any */
static bool has_memory(const struct ml_replay *replay, uint32_t device, uint32_t pid)
{
    for (size_t i = 0; i < replay->processes.len; i++) {
        uint32_t number = replay->processes.items[i].number;

        if ((!pid || ml_trace_process(replay->trace, number)->pid == pid) &&
            ml_replay_had_memory(replay, number, device))
            return true;
    }
    return false;
}

static int add_devices(device_list *list, struct ml_canvas *canvas, const struct ml_trace *trace,
                       uint32_t pid, struct ml_error *err)
{
    struct ml_replay replay;
    int r = ml_totals_at_end(trace, &replay, err);

    for (uint32_t i = 0; r == 0 && i < replay.devices.len; i++)
        if (replay.devices.items[i].bytes.peak_bytes > 0 && has_memory(&replay, i, pid))
            r = add_device(list, canvas, ml_intern_get(&replay.device_names, i, NULL),
                           replay.devices.items[i].bytes.peak_bytes);
    ml_replay_release(&replay);
    return r;
}

static bool is_gpu(const struct device *d)
{
    return strncmp(d->name, GPU, strlen(GPU)) == 0;
}

/* Who has a GPU asks about it: loading a model often takes more of the host for a while. */
static bool comes_first(const struct device *d, const struct device *other)
{
    if (is_gpu(d) != is_gpu(other))
        return is_gpu(d);
    return d->peak_bytes > other->peak_bytes;
}

/* NULL: none is used by all recordings. */
static const struct device *highest(const device_list *list, size_t runs)
{
    const struct device *best = NULL;

    for (size_t i = 0; i < list->len; i++) {
        const struct device *d = &list->items[i];

        if (d->runs == runs && (!best || comes_first(d, best)))
            best = d;
    }
    return best;
}

/* "on cuda:0; --device shows the others: cpu (peak 3.2 GiB)" */
static const char *name_others(const device_list *list, const struct device *chosen,
                               struct ml_canvas *canvas, enum ml_unit unit)
{
    const char *text = NULL;
    char bytes[32];

    for (size_t i = 0; i < list->len; i++) {
        const struct device *d = &list->items[i];

        if (d != chosen)
            text = ml_canvas_printf(canvas, "%s%s%s (peak %s)", text ? text : "", text ? ", " : "",
                                    d->name, ml_format_bytes(bytes, (int64_t)d->peak_bytes, unit));
    }
    return ml_canvas_printf(canvas, "on %s; --device shows the others: %s", chosen->name, text);
}

int ml_plot_choose_device(const struct ml_plot_request *request, struct ml_canvas *canvas,
                          struct ml_plot_opts *picture, struct ml_error *err)
{
    device_list list = {0};
    const struct device *chosen;
    int r = 0;

    if (!picture->adds_devices)
        return 0;
    for (size_t i = 0; r == 0 && i < request->count; i++)
        r = add_devices(&list, canvas, request->traces[i], (uint32_t)request->opts->instant.process,
                        err);
    chosen = r == 0 ? highest(&list, request->count) : NULL;
    if (list.len > 1 && chosen) {
        picture->device = chosen->name;
        picture->others = name_others(&list, chosen, canvas, picture->unit);
    }
    picture->adds_devices = list.len > 1 && !chosen;
    ml_vec_release(&list);
    return r;
}
