/* nccl_double.c: see nccl_double.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "nccl_double.h"

#include <pthread.h>
#include <stdlib.h>

int cuMemAlloc_v2(unsigned long long *ret, size_t bytes);
int cuCtxGetCurrent(void **ret);
int cuCtxSetCurrent(void *context);

struct communicator {
    int used;
    void *context;
};

static __thread int groups;
static __thread struct communicator *waiting; /* for the end of the group */

static int take(size_t bytes)
{
    unsigned long long block;

    return cuMemAlloc_v2(&block, bytes);
}

static int make(void **made, int rank, const char *id)
{
    struct communicator *c = calloc(1, sizeof(*c));

    if (!c || rank != id[127] || cuCtxGetCurrent(&c->context))
        return 1;
    *made = c;
    return take(COMMUNICATOR_BYTES);
}

int ncclCommInitRank(void **made, int ranks, ncclUniqueId id, int rank)
{
    return ranks <= rank ? 4 : make(made, rank, id.internal);
}

int ncclCommInitRankConfig(void **made, int ranks, ncclUniqueId id, int rank, ncclConfig_t *config)
{
    return config->magic != 0xcafebeef ? 4 : ncclCommInitRank(made, ranks, id, rank);
}

int ncclCommSplit(void *whole, int color, int key, void **made, ncclConfig_t *config)
{
    (void)whole, (void)color, (void)key, (void)config;
    return make(made, 0, (char[128]){0});
}

int ncclCommShrink(void *whole, int *without, int without_count, void **made, ncclConfig_t *config,
                   int flags)
{
    return flags || !without || without_count != 1 ? 4 : ncclCommSplit(whole, 0, 0, made, config);
}

int ncclCommGrow(void *part, int ranks, const ncclUniqueId *id, int rank, void **made,
                 ncclConfig_t *config)
{
    return part ? ncclCommInitRankConfig(made, ranks, *id, rank, config) : 4;
}

int ncclCommInitAll(void **made, int devices, const int *list)
{
    int result = 0;

    for (int i = 0; i < devices; i++)
        result += list[i] == i ? make(&made[i], 0, (char[128]){0}) : 4;
    return result;
}

static void *connect(void *data)
{
    struct communicator *c = data;

    cuCtxSetCurrent(c->context);
    take(FIRST_USE_BYTES);
    return NULL;
}

static int use(struct communicator *c)
{
    pthread_t thread;

    if (c->used++)
        return 0;
    return pthread_create(&thread, NULL, connect, c) || pthread_join(thread, NULL) ? 2 : 0;
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, void *communicator,
                  void *stream)
{
    (void)from, (void)to, (void)count, (void)type, (void)op, (void)stream;
    if (!groups)
        return use(communicator);
    waiting = communicator;
    return 0;
}

int ncclGroupStart(void)
{
    groups++;
    return 0;
}

int ncclGroupEnd(void)
{
    groups--;
    return waiting ? use(waiting) : 0;
}

int ncclCommFinalize(void *communicator)
{
    return use(communicator);
}

int ncclCommDestroy(void *communicator)
{
    free(communicator);
    return 0;
}
