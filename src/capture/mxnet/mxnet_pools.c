/* mxnet_pools.c: the memory that the pools of MXNet 2.0 take from the host: rounded up, and kept
 * for later. 1.9.1 has no such pool.
 *
 * All pools of the host, whatever they round to, take memory from one class and return it there,
 * also when they are emptied. Without a pool this class is not used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <stdint.h>

#include "mxnet_features.h"
#include "mxnet_late.h"
#include "mxnet_spaces.h"
#include "record.h"

typedef int take_function(const void *helper, void **ret, size_t bytes);
typedef void give_back_function(const void *helper, void *segment);

static take_function *real_take;
static give_back_function *real_give_back;

static int take(const void *helper, void **ret, size_t bytes)
{
    int result = real_take(helper, ret, bytes);
    uint32_t space = result ? 0 : ml_mxnet_pool_space();

    if (space) {
        ml_record_alloc(space, *ret, bytes);
        ml_mxnet_late_birth(ML_MXNET_SEGMENT, *ret);
    }
    return result;
}

static void give_back(const void *helper, void *segment)
{
    uint32_t space = segment ? ml_mxnet_pool_space() : 0;

    if (space)
        ml_record_free_in(ml_mxnet_late_end(ML_MXNET_SEGMENT, segment), space, segment);
    real_give_back(helper, segment);
}

#define TABLE "_ZTVN5mxnet7storage16ContextHelperCPUE"
#define TAKE "_ZNK5mxnet7storage16ContextHelperCPU6MallocEPPvm"
#define GIVE_BACK "_ZNK5mxnet7storage16ContextHelperCPU4FreeEPv"

const struct ml_mxnet_feature *ml_mxnet_pools_feature(const struct ml_mxnet_layout *layout)
{
    static const struct ml_mxnet_feature feature = {
        .exchanges = {{TABLE, TAKE, (void *)take, (void **)&real_take},
                      {TABLE, GIVE_BACK, (void *)give_back, (void **)&real_give_back}},
    };

    return layout->version >= 20000 ? &feature : NULL;
}
