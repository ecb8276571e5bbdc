/* torch_nccl_groups.c: see torch_nccl_groups.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_nccl_groups.h"

#include <stddef.h>
#include <stdio.h>

#include "lock.h"

#define GROUPS_MAX 256

static struct {
    struct ml_lock lock;
    struct {
        const void *config;
        struct ml_nccl_group group;
    } list[GROUPS_MAX];
    unsigned next; /* the place of the next new one, in a round: the oldest leaves */
} groups_named;

/* @return the number of the entry, or GROUPS_MAX. Precondition: the lock is held. */
static unsigned place_of(const void *config)
{
    unsigned i = 0;

    while (i < GROUPS_MAX && groups_named.list[i].config != config)
        i++;
    return i;
}

void ml_nccl_name_group(const void *config, const char *name, int rank, int ranks)
{
    unsigned i;

    if (!config || !ml_lock_or_give_up(&groups_named.lock))
        return;
    i = place_of(config);
    if (i == GROUPS_MAX)
        i = groups_named.next++ % GROUPS_MAX;
    groups_named.list[i].config = config;
    snprintf(groups_named.list[i].group.name, ML_NCCL_GROUP_NAME_BYTES, "%s", name);
    groups_named.list[i].group.rank = rank;
    groups_named.list[i].group.ranks = ranks;
    ml_unlock(&groups_named.lock);
}

bool ml_nccl_group_of(const void *config, struct ml_nccl_group *ret)
{
    unsigned i = GROUPS_MAX;

    if (!config || !ml_lock_or_give_up(&groups_named.lock))
        return false;
    i = place_of(config);
    if (i < GROUPS_MAX)
        *ret = groups_named.list[i].group;
    ml_unlock(&groups_named.lock);
    return i < GROUPS_MAX;
}
