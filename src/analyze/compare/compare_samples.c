/* compare_samples.c: see compare_samples.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare_samples.h"

#include <errno.h>
#include <string.h>

#define RSS "largest RSS" /* plot draws the sum, under another name */

/* ---- The kinds of runs -------------------------------------------------- */

static bool has_allocations(const struct ml_summary *s)
{
    for (size_t i = 0; i < s->devices.len; i++)
        for (size_t level = 0; level < ML_LEVELS; level++)
            if (s->devices.items[i].levels[level].allocations > 0)
                return true;
    return false;
}

int ml_compare_check(const struct ml_compare_input *inputs, size_t count, bool *ret_by_samples,
                     struct ml_error *err)
{
    const struct ml_compare_input *recorded = NULL, *sampled = NULL;

    for (size_t i = 0; i < count; i++) {
        if (has_allocations(inputs[i].summary))
            recorded = &inputs[i];
        else if (inputs[i].summary->samples.events > 0)
            sampled = &inputs[i];
    }
    *ret_by_samples = sampled && !recorded;
    if (!sampled || !recorded)
        return 0;
    return ml_error_set(err, -EINVAL,
                        "%s has allocations and %s has only samples, which cannot be compared; "
                        "record both with allocations (--heap, --cuda) or both with --sample-only",
                        recorded->file, sampled->file);
}

/* ---- Samples ------------------------------------------------------------- */

static struct ml_seen peak_rss(const struct ml_samples *s)
{
    struct ml_seen most = {0};

    for (size_t i = 0; i < s->processes.len; i++)
        if (s->processes.items[i].peak_rss.known)
            most = (struct ml_seen){true,
                                    ml_max_u64(most.bytes, s->processes.items[i].peak_rss.bytes)};
    return most;
}

static struct ml_seen peak_used(const struct ml_samples *s, const char *device)
{
    for (size_t i = 0; i < s->devices.len; i++)
        if (strcmp(s->devices.items[i].device, device) == 0 && s->devices.items[i].peak_used.known)
            return s->devices.items[i].peak_used;
    return (struct ml_seen){0};
}

/* @device  NULL: the resident memory of processes */
static int add_sampled(const struct ml_compare_input *inputs, const char *device,
                       struct ml_compare *ret)
{
    struct ml_compare_sampled sampled = {.name = device ? device : RSS};
    struct ml_seen first = {0};

    sampled.peak = ml_arena_alloc(&ret->arena, ret->runs.len * sizeof(*sampled.peak));
    sampled.known = ml_arena_alloc(&ret->arena, ret->runs.len * sizeof(*sampled.known));
    if (!sampled.peak || !sampled.known)
        return -ENOMEM;
    for (size_t i = 0; i < ret->runs.len; i++) {
        const struct ml_samples *s = &inputs[ret->runs.items[i].given].summary->samples;
        struct ml_seen peak = device ? peak_used(s, device) : peak_rss(s);

        first = first.known ? first : peak; /* the first run that has it */
        sampled.known[i] = peak.known;
        sampled.peak[i] = ml_change_of(peak.bytes, peak.known ? first.bytes : peak.bytes);
    }
    return ml_vec_push(&ret->sampled, sampled);
}

static bool is_listed(const struct ml_compare *c, const char *device)
{
    for (size_t i = 0; i < c->sampled.len; i++)
        if (strcmp(c->sampled.items[i].name, device) == 0)
            return true;
    return false;
}

static int add_gpus(const struct ml_compare_input *inputs, const struct ml_samples *s,
                    struct ml_compare *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < s->devices.len; i++) {
        const struct ml_sampled_device *d = &s->devices.items[i];

        /* The host's figure covers all programs there. */
        if (!d->is_host && d->peak_used.known && !is_listed(ret, d->device))
            r = add_sampled(inputs, d->device, ret);
    }
    return r;
}

static void find_worst(struct ml_compare *c)
{
    bool any = false;

    for (size_t i = 0; i < c->sampled.len; i++)
        for (size_t run = 1; run < c->runs.len; run++) {
            double percent = c->sampled.items[i].peak[run].percent;

            if (!any || percent > c->worst_increase_percent)
                c->worst_increase_percent = percent;
            any = true;
        }
}

/* Samples of a GPU alone, such as nvidia-smi's logs, contain no processes. */
static bool any_has_rss(const struct ml_compare_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (peak_rss(&inputs[i].summary->samples).bytes > 0)
            return true;
    return false;
}

int ml_compare_samples(const struct ml_compare_input *inputs, struct ml_compare *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < ret->runs.len; i++)
        r = add_gpus(inputs, &inputs[i].summary->samples, ret);
    if (r == 0 && any_has_rss(inputs, ret->runs.len))
        r = add_sampled(inputs, NULL, ret);
    find_worst(ret);
    return r;
}
