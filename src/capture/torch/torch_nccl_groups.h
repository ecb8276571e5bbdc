/* torch_nccl_groups.h: the process groups of PyTorch that NCCL's communicators are made for.
 *
 * A group has a configuration of NCCL, whose address PyTorch passes with each communicator that it
 * makes for the group, sooner or later. The address identifies the group; it is never followed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_NCCL_GROUPS_H
#define ML_TORCH_NCCL_GROUPS_H

#include <stdbool.h>

#define ML_NCCL_GROUP_NAME_BYTES 64

struct ml_nccl_group {
    char name[ML_NCCL_GROUP_NAME_BYTES]; /* cut to this size */
    int rank, ranks;
};

/* Communicators that are made with this configuration from now on are for this group; a group that
 * had it before is forgotten. Thread-safe. */
void ml_nccl_name_group(const void *config, const char *name, int rank, int ranks);

/* @return false if the configuration is NULL or belongs to no group that has a name. Thread-safe. */
bool ml_nccl_group_of(const void *config, struct ml_nccl_group *ret);

#endif
