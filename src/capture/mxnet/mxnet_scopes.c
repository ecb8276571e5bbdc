/* mxnet_scopes.c: see mxnet_scopes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_scopes.h"

#include <stdbool.h>
#include <stdint.h>

#include "current_phase.h"
#include "record.h"

/* Deeper ones are only counted. */
#define DEPTH_MAX 16

static __thread struct {
    uint32_t depth;
    uint8_t phases[DEPTH_MAX];
} thread_phases;

/* Whether the phase at that depth continues the one around it. */
static int goes_on(uint32_t depth, uint8_t phase)
{
    return depth >= DEPTH_MAX || (depth && thread_phases.phases[depth - 1] == phase);
}

/* Whether the phase begins now. */
static bool enter(uint8_t phase)
{
    uint32_t depth = thread_phases.depth++;

    if (depth < DEPTH_MAX)
        thread_phases.phases[depth] = phase;
    return !goes_on(depth, phase);
}

/* Whether the phase that was entered last ends now; if so, that phase. */
static bool leave(uint8_t *ret_phase)
{
    uint32_t depth;

    if (!thread_phases.depth)
        return false;
    depth = --thread_phases.depth;
    *ret_phase = depth < DEPTH_MAX ? thread_phases.phases[depth] : 0;
    return !goes_on(depth, *ret_phase);
}

void ml_mxnet_enter_phase(enum ml_phase phase)
{
    if (!enter((uint8_t)phase))
        return;
    ml_mark_phase(phase);
    ml_push_phase(phase);
}

/* Forward continues until backward or the optimizer begins: computations in between are part of it.
 */
void ml_mxnet_leave_phase(void)
{
    uint8_t phase;

    if (!leave(&phase))
        return;
    ml_record_pop();
    if (phase == ML_PHASE_BACKWARD)
        ml_mark_phase(ML_PHASE_NONE);
}

void ml_mxnet_push_phase(enum ml_phase phase)
{
    if (enter((uint8_t)phase))
        ml_push_phase(phase);
}

void ml_mxnet_pop_phase(void)
{
    uint8_t phase;

    if (leave(&phase))
        ml_record_pop();
}
