/* mxnet_late.c: which recording has the allocation of MXNet's memory.
 *
 * A recording that began with the process has everything, so nothing is stored for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_late.h"

#include "pointer_table.h"
#include "record.h"
#include "recorder.h"

/* Maps memory to the recording that has its allocation. The first block in a segment has the
 * segment's address. */
static struct ml_pointer_table recordings_of[ML_MXNET_LEVELS];

void ml_mxnet_late_birth(enum ml_mxnet_level level, const void *memory)
{
    uint32_t recording = ml_recorder_is_late() ? ml_record_place() : 0;

    if (recording && !ml_pointer_put(&recordings_of[level], memory, recording))
        ml_recorder_cannot_follow();
}

bool ml_mxnet_late_has(enum ml_mxnet_level level, const void *memory)
{
    return ml_pointer_get(&recordings_of[level], memory) == ml_recorder_recording();
}

uint32_t ml_mxnet_late_end(enum ml_mxnet_level level, const void *memory)
{
    if (!ml_recorder_is_late())
        return ml_recorder_recording();
    return (uint32_t)ml_pointer_take(&recordings_of[level], memory);
}
