/* samples.c: see samples.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "samples.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_spaces.h"
#include "each_event.h"

#define DEVICES_MAX 256

bool ml_trace_is_sample_only(const struct ml_trace *trace)
{
    const char *value = ml_trace_setting(trace, "sample_only");

    return value && strcmp(value, "yes") == 0;
}

bool ml_trace_same_string(const struct ml_trace *trace, uint32_t a, uint32_t b)
{
    return a == b || strcmp(ml_trace_string(trace, a, NULL), ml_trace_string(trace, b, NULL)) == 0;
}

bool ml_device_is(const char *name, const char *asked)
{
    size_t prefix = strlen(ML_CUDA_DEVICE_PREFIX);

    if (strcmp(name, asked) == 0)
        return true;
    return asked[0] && asked[strspn(asked, "0123456789")] == '\0' &&
           strncmp(name, ML_CUDA_DEVICE_PREFIX, prefix) == 0 && strcmp(name + prefix, asked) == 0;
}

bool ml_sample_is_inside(const struct ml_event *event)
{
    return event->args[1] & (ML_SAMPLE_INSIDE | ML_SAMPLE_LAST);
}

bool ml_sample_about(const struct ml_event *event, uint32_t *ret_process)
{
    uint64_t process = event->args[1] >> ML_SAMPLE_PROCESS_SHIFT;

    if (!(event->args[1] & ML_SAMPLE_BY_PROCESS) || !process || process > UINT32_MAX)
        return false;
    *ret_process = (uint32_t)(process - 1);
    return true;
}

/* ---- While reading ------------------------------------------------------ */

/* NULL when out of memory, or when a damaged trace names too many. */
static struct ml_sampled_device *find_device(struct ml_sample_book *b, uint32_t string)
{
    struct ml_sampled_device d = {.string = string};

    for (size_t i = 0; i < b->samples.devices.len; i++)
        if (ml_trace_same_string(b->trace, b->samples.devices.items[i].string, string))
            return &b->samples.devices.items[i];
    if (b->samples.devices.len == DEVICES_MAX)
        return NULL;
    d.is_host = strcmp(ml_trace_string(b->trace, string, NULL), ML_HOST_DEVICE) == 0;
    if (ml_vec_push(&b->samples.devices, d) < 0) {
        b->error = -ENOMEM;
        return NULL;
    }
    return &b->samples.devices.items[b->samples.devices.len - 1];
}

static struct ml_sampled_process *find_process(struct ml_sample_book *b, uint32_t number)
{
    uint64_t index;

    if (!ml_map_get(&b->process_index, number, &index)) {
        index = b->samples.processes.len;
        if (ml_vec_push(&b->samples.processes, (struct ml_sampled_process){.number = number}) < 0 ||
            ml_map_put(&b->process_index, number, index) < 0) {
            b->error = -ENOMEM;
            return NULL;
        }
    }
    return &b->samples.processes.items[index];
}

static void raise_peak(struct ml_seen *peak, uint64_t bytes)
{
    if (!peak->known || bytes > peak->bytes)
        *peak = (struct ml_seen){true, bytes};
}

static void add_memory(struct ml_sampled_device *d, const struct ml_event *event)
{
    const uint64_t *args = event->args;

    if (args[1] & ML_SAMPLE_USED) {
        if (!d->peak_used.known || args[2] > d->peak_used.bytes)
            d->peak_time_ns = event->time_ns;
        raise_peak(&d->peak_used, args[2]);
    }
    if (args[1] & ML_SAMPLE_TOTAL)
        d->total = (struct ml_seen){true, args[4]};
}

static void add_gpu_use(struct ml_sample_book *b, struct ml_sampled_process *p, uint32_t device,
                        uint64_t bytes)
{
    uint64_t key = (uint64_t)p->number << 32 | device, before = 0; /* the device's first string */

    (void)ml_map_get(&b->uses, key, &before);
    if (ml_map_put(&b->uses, key, bytes) < 0)
        b->error = -ENOMEM;
    p->gpu_bytes += bytes - before;
    raise_peak(&p->peak_gpu, p->gpu_bytes);
}

static void add_process(struct ml_sample_book *b, const struct ml_sampled_device *d,
                        const struct ml_event *event)
{
    uint32_t number;
    struct ml_sampled_process *p;

    if (!ml_sample_about(event, &number))
        return;
    p = find_process(b, number);
    if (!p)
        return;
    if (!d->is_host)
        add_gpu_use(b, p, d->string, event->args[5]);
    else
        raise_peak(event->args[1] & ML_SAMPLE_SHARE ? &p->peak_pss : &p->peak_rss, event->args[5]);
}

void ml_sample_book_add(struct ml_sample_book *b, const struct ml_event *event)
{
    struct ml_sampled_device *d = find_device(b, (uint32_t)event->args[0]);

    b->samples.events++;
    if (!d)
        return;
    add_memory(d, event);
    add_process(b, d, event);
}

/* ---- At the end --------------------------------------------------------- */

static bool number_of(const struct ml_trace *trace, const char *key, double *ret)
{
    const char *text = ml_trace_setting(trace, key);
    char *end;

    if (!text)
        return false;
    *ret = strtod(text, &end);
    return end != text && !*end && isfinite(*ret) && *ret >= 0 && *ret < 1e18;
}

static struct ml_sample_rate rate_of(const struct ml_trace *trace)
{
    struct ml_sample_rate rate = {0};
    double taken;

    rate.known = number_of(trace, "sample_hz", &rate.asked_hz) &&
                 number_of(trace, "sample_pace_hz", &rate.pace_hz) &&
                 number_of(trace, "sample_hz_achieved", &rate.achieved_hz) &&
                 number_of(trace, "sample_cpu_seconds", &rate.cpu_seconds) &&
                 number_of(trace, "sample_taken", &taken);
    if (rate.known)
        rate.taken = (uint64_t)taken;
    return rate;
}

static const char *keep(struct ml_arena *arena, const char *text, int *r)
{
    const char *kept = text ? ml_arena_dup(arena, text, strlen(text)) : NULL;

    if (text && !kept)
        *r = -ENOMEM;
    return kept;
}

static int name_device(const struct ml_trace *trace, struct ml_sampled_device *d,
                       struct ml_arena *arena)
{
    char key[96];
    int r = 0;

    d->device = keep(arena, ml_trace_string(trace, d->string, NULL), &r);
    if (r == 0 && snprintf(key, sizeof(key), "gpu %s", d->device) < (int)sizeof(key))
        d->name = keep(arena, ml_trace_setting(trace, key), &r);
    if (d->name && !*d->name)
        d->name = NULL;
    return r;
}

static int by_device(const void *a, const void *b)
{
    const struct ml_sampled_device *x = a, *y = b;

    if (x->is_host != y->is_host)
        return x->is_host ? 1 : -1;
    return strverscmp(x->device, y->device);
}

static int by_number(const void *a, const void *b)
{
    const struct ml_sampled_process *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

int ml_sample_book_close(struct ml_sample_book *book, struct ml_arena *arena,
                         struct ml_samples *ret)
{
    int r = book->error;

    *ret = book->samples;
    ml_map_release(&book->process_index);
    ml_map_release(&book->uses);
    ret->rate = rate_of(book->trace);
    ret->driver = keep(arena, ml_trace_setting(book->trace, "gpu_driver"), &r);
    for (size_t i = 0; r == 0 && i < ret->devices.len; i++)
        r = name_device(book->trace, &ret->devices.items[i], arena);
    for (size_t i = 0; i < ret->processes.len; i++)
        ret->processes.items[i].pid =
            ml_trace_process(book->trace, ret->processes.items[i].number)->pid;
    if (r == 0)
        ml_vec_sort(&ret->devices, by_device);
    ml_vec_sort(&ret->processes, by_number);
    *book = (struct ml_sample_book){0};
    return r;
}

void ml_samples_release(struct ml_samples *samples)
{
    ml_vec_release(&samples->devices);
    ml_vec_release(&samples->processes);
    *samples = (struct ml_samples){0};
}

/* ---- The address space of a process -------------------------------------- */

struct address_scan {
    uint64_t events, read;
    struct ml_address_space *ret;
};

static int take_addresses(void *ctx, const struct ml_event *event)
{
    struct address_scan *s = ctx;
    bool up_to_it = ++s->read <= s->events;
    uint32_t process;

    if (event->kind != ML_SAMPLE || !(event->args[1] & ML_SAMPLE_ADDRESSES) ||
        !ml_sample_about(event, &process) || process != s->ret->process)
        return 0;
    if (up_to_it) {
        s->ret->used = (struct ml_seen){true, event->args[2]};
        s->ret->time_ns = event->time_ns;
    }
    if (up_to_it || !s->ret->limit.known)
        s->ret->limit = (struct ml_seen){true, event->args[4]};
    return 0;
}

int ml_address_space(const struct ml_trace *trace, uint64_t events, struct ml_address_space *ret,
                     struct ml_error *err)
{
    struct address_scan s = {.events = events, .ret = ret};

    return ml_each_event(trace, take_addresses, &s, err);
}
