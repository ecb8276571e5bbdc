/* sampled_total.c: see sampled_total.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampled_total.h"

#include <errno.h>
#include <string.h>

#include "intern.h"
#include "map.h"
#include "samples.h"

/* One kind of figure: the latest value of each, and their sum. */
struct sum {
    struct ml_map last; /* device and process -> bytes */
    bool known;
    uint64_t now, peak;
};

struct book {
    const struct ml_trace *trace;
    const struct ml_sampled_total_opts *opts;
    struct ml_intern devices; /* by name: a writer may define one twice */
    struct sum by_process, by_device, resident;
};

static int say(struct sum *sum, uint64_t key, uint64_t bytes)
{
    uint64_t before = 0;

    ml_map_get(&sum->last, key, &before);
    sum->now += bytes - before;
    sum->known = true;
    if (sum->now > sum->peak)
        sum->peak = sum->now;
    return ml_map_put(&sum->last, key, bytes);
}

static int add(struct book *b, const struct ml_event *event)
{
    uint32_t process, len;
    const char *name = ml_trace_string(b->trace, (uint32_t)event->args[0], &len);
    bool is_about = ml_sample_about(event, &process);
    int64_t device;
    uint64_t key;
    int r = 0;

    if (b->opts->device && !ml_device_is(name, b->opts->device))
        return 0;
    if (is_about && b->opts->pid && ml_trace_process(b->trace, process)->pid != b->opts->pid)
        return 0;
    device = ml_intern_put(&b->devices, name, len, NULL);
    if (device < 0)
        return (int)device;
    key = is_about ? (uint64_t)device << 32 | process : 0;
    if (strcmp(name, ML_HOST_DEVICE) == 0)
        return is_about && !(event->args[1] & ML_SAMPLE_SHARE)
                   ? say(&b->resident, key, event->args[5])
                   : 0;
    if (is_about)
        r = say(&b->by_process, key, event->args[5]);
    if (r == 0 && (event->args[1] & ML_SAMPLE_USED))
        r = say(&b->by_device, (uint64_t)device, event->args[2]);
    return r;
}

static int read_samples(struct book *b, struct ml_error *err)
{
    uint64_t to_ns = b->opts->at_peak ? UINT64_MAX : b->opts->time_ns;
    struct ml_cursor *cursor = NULL;
    const struct ml_event *events;
    int n, r = ml_cursor_open(b->trace, 0, to_ns, &cursor, err);

    while (r == 0 && (n = ml_cursor_next(cursor, &events, err)) != 0) {
        if (n < 0)
            r = n;
        for (int i = 0; r == 0 && i < n; i++)
            if (events[i].kind == ML_SAMPLE)
                r = add(b, &events[i]);
    }
    ml_cursor_free(cursor);
    return r;
}

static const struct sum *choose(const struct book *b)
{
    if (b->by_process.known || b->opts->processes_only)
        return &b->by_process;
    return b->by_device.known ? &b->by_device : &b->resident;
}

int ml_sampled_total(const struct ml_trace *trace, const struct ml_sampled_total_opts *opts,
                     uint64_t *ret, struct ml_error *err)
{
    struct book b = {.trace = trace, .opts = opts};
    const struct sum *sum;
    int r = read_samples(&b, err);

    sum = choose(&b);
    if (r == 0 && !sum->known)
        r = ml_error_set(
            err, -ENODATA,
            "the trace has no samples of that memory up to that time; give the expected "
            "total as a number, or record without --sample-hz 0");
    if (r == 0)
        *ret = opts->at_peak ? sum->peak : sum->now;
    ml_intern_release(&b.devices);
    ml_map_release(&b.by_process.last);
    ml_map_release(&b.by_device.last);
    ml_map_release(&b.resident.last);
    return r;
}
