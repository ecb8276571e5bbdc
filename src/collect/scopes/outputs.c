/* outputs.c: see outputs.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "outputs.h"

void ml_outputs_add(struct ml_outputs *outputs, struct ml_work_output output)
{
    if (outputs->count < ML_OUTPUTS_OF_WORK && output.size)
        outputs->items[outputs->count++] = output;
}

static bool take(struct ml_work_output *o, uint64_t size, struct ml_work_output *ret)
{
    if (!size || o->size != size)
        return false;
    *ret = *o;
    o->size = 0;
    return true;
}

bool ml_outputs_take(struct ml_outputs *outputs, uint64_t size, struct ml_work_output *ret)
{
    for (uint32_t i = 0; i < outputs->count; i++) {
        if (take(&outputs->items[i], size, ret))
            return true;
    }
    return false;
}

static int wait_for(struct ml_waiting_outputs *waiting, struct ml_work_output output)
{
    if (waiting->ring.len < ML_OUTPUTS_MAX)
        return ml_vec_push(&waiting->ring, output);
    waiting->ring.items[waiting->told % ML_OUTPUTS_MAX] = output;
    return 0;
}

struct ml_output_range ml_outputs_wait(struct ml_waiting_outputs *waiting,
                                       struct ml_outputs *outputs)
{
    struct ml_output_range range = {.first = waiting->told};

    for (uint32_t i = 0; i < outputs->count; i++) {
        if (wait_for(waiting, outputs->items[i]))
            break; /* without memory they have no labels */
        waiting->told++;
        range.count++;
    }
    outputs->count = 0;
    return range;
}

bool ml_outputs_take_waiting(struct ml_waiting_outputs *waiting, struct ml_output_range range,
                             uint64_t size, struct ml_work_output *ret)
{
    if (waiting->told - range.first > ML_OUTPUTS_MAX)
        return false;
    for (uint32_t i = 0; i < range.count; i++) {
        if (take(&waiting->ring.items[(range.first + i) % ML_OUTPUTS_MAX], size, ret))
            return true;
    }
    return false;
}

void ml_outputs_release(struct ml_waiting_outputs *waiting)
{
    ml_vec_release(&waiting->ring);
}
