/* run_limits.c: see run_limits.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run_limits.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "leaks.h"
#include "samples.h"
#include "summary.h"

static int add(struct ml_limits *limits, struct ml_limit_check check)
{
    check.kept = check.measured <= check.allowed;
    limits->exceeded += !check.kept;
    return ml_vec_push(&limits->checks, check);
}

static bool has_steps(const struct ml_leaks *leaks)
{
    return leaks->unit == ML_LEAK_BY_STEP && leaks->measured > 0;
}

static void note_growth(const struct ml_leaks *leaks, uint32_t pid, struct ml_limit_check *worst)
{
    uint64_t growth = (uint64_t)llround(fmax(leaks->bytes_per_step, 0));

    if (!has_steps(leaks) || (worst->steps && growth <= worst->measured))
        return;
    worst->measured = growth;
    worst->steps = leaks->measured;
    worst->pid = pid;
}

static int find_growth(const struct ml_trace *trace, uint32_t pid, struct ml_limit_check *worst,
                       struct ml_leaks *ret, struct ml_error *err)
{
    const struct ml_leaks_opts opts = {
        .device = worst->device, .pid = pid, .warm_up = ML_LEAK_WARM_UP};
    int r = ml_leaks(trace, &opts, ret, err);

    if (r == 0)
        note_growth(ret, ret->other_pids.len ? ret->step_pid : 0, worst);
    return r;
}

/* The ranks of a job take the same steps, and each may leak. */
static int add_growth(const struct ml_trace *trace, const char *device,
                      const struct ml_limits_opts *opts, struct ml_limits *ret,
                      struct ml_error *err)
{
    struct ml_limit_check worst = {
        .kind = ML_LIMIT_GROWTH, .device = device, .allowed = opts->max_growth_bytes};
    struct ml_leaks first, other;
    int r = find_growth(trace, 0, &worst, &first, err);

    if (r == 0 && !has_steps(&first))
        r = ml_error_set(err, -ENOENT,
                         "growth cannot be measured: the run has %llu finished step%s; it needs "
                         "two, which a training loop or memledger_step() marks",
                         (unsigned long long)(first.slices ? 0 : first.steps),
                         first.slices || first.steps != 1 ? "s" : "");
    for (size_t i = 0; r == 0 && i < first.other_pids.len; i++) {
        r = find_growth(trace, first.other_pids.items[i], &worst, &other, err);
        ml_leaks_release(&other);
    }
    if (r == 0)
        r = add(ret, worst);
    ml_leaks_release(&first);
    return r;
}

/* Why blocks that are live at the end may be freed later; NULL: they are not. */
static const char *why_not_left(const struct ml_health *health)
{
    if (health->being_written)
        return "it is still being recorded";
    if (health->cut_short)
        return "the recording was not finished";
    return health->went_on ? "the program was still running when the recording ended" : NULL;
}

static int add_left(const struct ml_summary_device *device, const char *name,
                    const struct ml_health *health, uint64_t max_bytes, struct ml_limits *ret,
                    struct ml_error *err)
{
    const char *why = why_not_left(health);

    if (why && device->counted.left_bytes > max_bytes)
        return ml_error_set(err, -ENODATA,
                            "leaks on %s cannot be checked: %s; memledger table --at end lists "
                            "the memory that was live",
                            name, why);
    return add(ret, (struct ml_limit_check){.kind = ML_LIMIT_LEFT,
                                            .device = name,
                                            .measured = device->counted.left_bytes,
                                            .allowed = max_bytes});
}

static int check_device(const struct ml_trace *trace, const struct ml_summary_device *device,
                        const struct ml_health *health, const struct ml_limits_opts *opts,
                        struct ml_limits *ret, struct ml_error *err)
{
    const char *name = ml_arena_dup(&ret->arena, device->name, strlen(device->name));
    int r = name ? 0 : -ENOMEM;

    if (r == 0 && opts->max_peak_bytes != ML_NO_LIMIT)
        r = add(ret, (struct ml_limit_check){.kind = ML_LIMIT_PEAK,
                                             .device = name,
                                             .measured = device->counted.peak_bytes,
                                             .time_ns = device->counted.peak_time_ns,
                                             .allowed = opts->max_peak_bytes});
    if (r == 0 && opts->max_growth_bytes != ML_NO_LIMIT)
        r = add_growth(trace, name, opts, ret, err);
    if (r == 0 && opts->max_left_bytes != ML_NO_LIMIT)
        r = add_left(device, name, health, opts->max_left_bytes, ret, err);
    return r;
}

/* Events and times whose lack hides how much memory was in use. */
static int check_events(const struct ml_health *health, const struct ml_limits_opts *opts,
                        struct ml_limits *ret)
{
    const struct ml_limit_check lost = {.kind = ML_LIMIT_LOST, .measured = health->lost};
    const struct ml_limit_check dropped = {.kind = ML_LIMIT_DROPPED,
                                           .measured = health->window.events};
    const struct ml_limit_check pauses = {.kind = ML_LIMIT_PAUSES, .measured = health->pauses};
    const struct ml_limit_check unfinished = {.kind = ML_LIMIT_UNFINISHED,
                                              .measured = health->cut_short};
    int r = lost.measured ? add(ret, lost) : 0;

    if (r == 0 && dropped.measured && opts->max_peak_bytes != ML_NO_LIMIT)
        r = add(ret, dropped);
    if (r == 0 && pauses.measured && opts->max_peak_bytes != ML_NO_LIMIT)
        r = add(ret, pauses);
    if (r == 0 && unfinished.measured &&
        (opts->max_peak_bytes != ML_NO_LIMIT || opts->max_left_bytes != ML_NO_LIMIT))
        r = add(ret, unfinished);
    return r;
}

int ml_limits(const struct ml_trace *trace, const struct ml_limits_opts *opts,
              struct ml_limits *ret, struct ml_error *err)
{
    const struct ml_summary_opts summary_opts = {.top = 0};
    struct ml_summary summary;
    size_t checked = 0;
    int r;

    *ret = (struct ml_limits){0};
    ml_arena_init(&ret->arena);
    r = ml_summarize(trace, &summary_opts, &summary, err);
    for (size_t i = 0; r == 0 && i < summary.devices.len; i++) {
        const struct ml_summary_device *device = &summary.devices.items[i];

        if (opts->device ? !ml_device_is(device->name, opts->device)
                         : device->counted.allocations == 0)
            continue;
        r = check_device(trace, device, &summary.health, opts, ret, err);
        checked++;
    }
    if (r == 0 && !checked)
        r = opts->device
                ? ml_error_set(err, -ENODEV,
                               "no memory of %s was recorded; memledger summary lists the devices",
                               opts->device)
                : ml_error_set(err, -ENODEV,
                               "no memory was recorded, so no limit can be checked; memledger "
                               "summary says why");
    ret->health = summary.health;
    if (r == 0)
        r = check_events(&summary.health, opts, ret);
    ml_summary_release(&summary);
    return r;
}

void ml_limits_release(struct ml_limits *limits)
{
    ml_vec_release(&limits->checks);
    ml_arena_release(&limits->arena);
}
