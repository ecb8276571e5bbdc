/* mxnet_scopes.c: see mxnet_scopes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_scopes.h"

#include <stdint.h>

#include "phase_marks.h"
#include "record.h"

/* Deeper ones are only counted. */
#define DEPTH_MAX 16

static const char *const names[] = {
    [ML_MXNET_FORWARD] = "forward",
    [ML_MXNET_BACKWARD] = "backward",
};

static __thread struct {
    uint32_t depth;
    uint8_t phases[DEPTH_MAX];
} here;

/* Whether the phase at that depth goes on with the one around it. */
static int goes_on(uint32_t depth, uint8_t phase)
{
    return depth >= DEPTH_MAX || (depth && here.phases[depth - 1] == phase);
}

void ml_mxnet_enter_phase(enum ml_mxnet_phase phase)
{
    uint32_t depth = here.depth++;

    if (depth < DEPTH_MAX)
        here.phases[depth] = (uint8_t)phase;
    if (goes_on(depth, (uint8_t)phase))
        return;
    ml_mark_phase(names[phase]);
    ml_push_phase(names[phase]);
}

/* Forward goes on until backward or the optimizer begins: what is computed meanwhile is
 * a part of it. */
void ml_mxnet_leave_phase(void)
{
    uint32_t depth;

    if (!here.depth)
        return;
    depth = --here.depth;
    if (goes_on(depth, depth < DEPTH_MAX ? here.phases[depth] : 0))
        return;
    ml_record_pop();
    if (here.phases[depth] == ML_MXNET_BACKWARD)
        ml_mark_phase("");
}
