/* sampler.c: see sampler.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nanoseconds.h"

/* How long the end of a run waits for a lane that is inside a call. */
#define AWAIT_NS 200000000u

static int start_lane(struct ml_sampler *s, enum ml_sampler_lane lane,
                      const struct ml_lane_work *work, void *context, uint32_t hz,
                      struct ml_stage *stage)
{
    int r = ml_lane_start(&s->lanes[lane], work, context, hz, stage->ticks);

    return r ? r : ml_vec_push(&stage->own, &s->lanes[lane].source);
}

struct ml_sampler *ml_sampler_start(uint32_t hz, bool may_rest, uint32_t program,
                                    struct ml_stage *stage)
{
    struct ml_sampler *s = aligned_alloc(alignof(struct ml_sampler), sizeof(*s));
    uint32_t host_hz = hz < ML_HOST_HZ_MAX ? hz : ML_HOST_HZ_MAX;

    if (!s)
        return NULL;
    memset(s, 0, sizeof(*s));
    s->hz = hz;
    s->gpu.may_rest = may_rest;
    s->gpu.program = program;
    if (start_lane(s, ML_LANE_GPU, &ml_gpu_work, &s->gpu, hz, stage) ||
        start_lane(s, ML_LANE_HOST, &ml_host_work, &s->host, host_hz, stage)) {
        ml_vec_clear(&stage->own);
        ml_sampler_stop(s);
        ml_sampler_await(s);
        ml_sampler_free(s);
        return NULL;
    }
    return s;
}

static void tell(struct ml_sampler *s, uint32_t pid, uint32_t process, bool gone)
{
    for (int i = 0; i < ML_SAMPLER_LANES; i++)
        ml_lane_watch(&s->lanes[i], &(struct ml_process_watch){pid, process, gone});
}

void ml_sampler_watch(struct ml_sampler *s, uint32_t pid, uint32_t process)
{
    tell(s, pid, process, false);
}

void ml_sampler_forget(struct ml_sampler *s, uint32_t pid, uint32_t process)
{
    tell(s, pid, process, true);
}

void ml_sampler_deliver(struct ml_sampler *s)
{
    for (int i = 0; i < ML_SAMPLER_LANES; i++)
        ml_lane_deliver(&s->lanes[i]);
}

void ml_sampler_stop(struct ml_sampler *s)
{
    for (int i = 0; i < ML_SAMPLER_LANES; i++)
        ml_lane_stop(&s->lanes[i]);
}

/* A driver that is still being opened may take seconds, and has no samples. */
void ml_sampler_await(struct ml_sampler *s)
{
    uint64_t now = ml_clock_ns(CLOCK_MONOTONIC);

    s->all_ended = true;
    for (int i = 0; i < ML_SAMPLER_LANES; i++) {
        uint64_t patience = atomic_load(&s->lanes[i].ready) ? AWAIT_NS : AWAIT_NS / 10;
        s->all_ended &= ml_lane_await(&s->lanes[i], now + patience);
    }
}

void ml_sampler_free(struct ml_sampler *s)
{
    if (!s || !s->all_ended)
        return;
    for (int i = 0; i < ML_SAMPLER_LANES; i++)
        ml_lane_release(&s->lanes[i]);
    ml_nvml_release(&s->gpu.nvml);
    ml_vec_release(&s->gpu.devices);
    ml_vec_release(&s->gpu.watched);
    ml_vec_release(&s->gpu.users);
    ml_vec_release(&s->gpu.strangers);
    free(s);
}
