/* torch_nccl_double.c: makes and uses communicators as PyTorch's CUDA library does. The recorder
 * finds it by its name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_nccl_double.h"

#include "nccl_double.h"

static ncclConfig_t part_config = {
    .size = sizeof(part_config), .magic = 0xcafebeef, .version = 22600}; /* has no name yet */

const void *config_of_part(void)
{
    return &part_config;
}

/* As DataParallel does. */
static int use_all_devices(void)
{
    void *made[2];
    int sum = ncclCommInitAll(made, 2, (int[]){0, 1});

    return sum + ncclCommFinalize(made[1]) + ncclCommDestroy(made[0]) + ncclCommDestroy(made[1]);
}

int use_communicators(void)
{
    ncclUniqueId id = {.internal = {[127] = 1}};
    ncclConfig_t config = {
        .size = sizeof(config), .magic = 0xcafebeef, .version = 22703, .comm_name = "default_pg"};
    void *all, *plain, *part, *fewer, *more;
    int sum = ncclCommInitRankConfig(&all, 4, id, 1, &config);

    sum += ncclCommInitRank(&plain, 2, id, 1);
    sum += ncclCommSplit(all, 0, 0, &part, &part_config);
    sum += ncclAllReduce("", &sum, 1, 2, 3, plain, 0) + ncclAllReduce("", &sum, 1, 2, 3, plain, 0);
    sum += ncclGroupStart() + ncclAllReduce("", &sum, 1, 2, 3, all, 0) + ncclGroupEnd();
    sum += ncclCommDestroy(part) + use_all_devices();
    config.version = 22600;
    sum += ncclCommShrink(all, (int[]){3}, 1, &fewer, &config, 0);
    sum += ncclCommGrow(fewer, 5, &id, 1, &more, &config);
    return sum;
}
