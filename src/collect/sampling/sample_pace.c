/* sample_pace.c: see sample_pace.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sample_pace.h"

#define SECOND_NS 1000000000u

uint64_t ml_pace_take(struct ml_pace *p, uint64_t now_ns)
{
    uint64_t ticks;

    if (!p->taken)
        p->first_ns = now_ns;
    p->taken++;
    p->left_out += p->leaving_out;
    p->leaving_out = 0;
    p->last_ns = now_ns;
    ticks = (uint64_t)((ml_u128)(now_ns - p->first_ns) * p->hz / SECOND_NS) + 1;
    /* Rounded up, so that the tick that is due then is not taken twice. */
    return p->first_ns + (uint64_t)(((ml_u128)ticks * SECOND_NS + p->hz - 1) / p->hz);
}

uint64_t ml_pace_leave_out(struct ml_pace *p, uint64_t next_ns, uint32_t ticks)
{
    p->leaving_out = ticks;
    return next_ns + (uint64_t)ticks * SECOND_NS / p->hz;
}

double ml_pace_achieved_hz(const struct ml_pace *p)
{
    if (p->taken < 2 || p->last_ns == p->first_ns)
        return 0;
    return (double)(p->taken - 1 + p->left_out) * SECOND_NS / (double)(p->last_ns - p->first_ns);
}

bool ml_due(struct ml_due *due, uint64_t now_ns, uint64_t every_ns)
{
    if (now_ns < due->next_ns)
        return false;
    due->next_ns = now_ns + every_ns;
    return true;
}

static bool same(const struct ml_sample *a, const struct ml_sample *b)
{
    return a->device == b->device && a->bits == b->bits && a->used == b->used &&
           a->free == b->free && a->total == b->total && a->by_process == b->by_process;
}

bool ml_sample_is_news(struct ml_sample_last *last, const struct ml_sample *sample, uint64_t now_ns)
{
    if (last->any && same(&last->sample, sample) && now_ns - last->time_ns < ML_SAMPLE_REPEAT_NS)
        return false;
    *last = (struct ml_sample_last){*sample, now_ns, true};
    return true;
}
