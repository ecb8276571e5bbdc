/* mxnet_older.c: see mxnet_older.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_older.h"

#include "mxnet_arrays.h"
#include "mxnet_late.h"
#include "mxnet_layout.h"
#include "mxnet_spaces.h"
#include "record.h"
#include "recorder.h"

bool ml_mxnet_prepare(void)
{
    return ml_mxnet_patch() && ml_mxnet_begin_now();
}

static bool seed(const struct ml_mxnet_block *block)
{
    bool is_there = block->ptr && block->bytes;
    uint32_t space = is_there ? ml_mxnet_space(block->device_type, block->device_id) : 0;

    if (!space || ml_mxnet_late_has(ML_MXNET_BLOCK, block->ptr))
        return false;
    ml_record_alloc(space, block->ptr, block->bytes);
    ml_mxnet_late_birth(ML_MXNET_BLOCK, block->ptr);
    return true;
}

unsigned ml_mxnet_seed(const void *array)
{
    struct ml_mxnet_block blocks[ML_MXNET_PARTS_MAX];
    unsigned parts = ml_recorder_is_late() ? ml_mxnet_array_blocks(array, blocks) : 0;
    unsigned count = 0;

    if (ml_mxnet_array_is_foreign(array))
        return 0;
    for (unsigned i = 0; i < parts; i++)
        count += seed(&blocks[i]);
    return count;
}
