/* nccl_double.h: a double of NCCL that allocates as NCCL does: for a new communicator in the
 * calling thread, and in a thread of its own when one is first used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NCCL_DOUBLE_H
#define NCCL_DOUBLE_H

#include <stddef.h>

typedef struct {
    char internal[128];
} ncclUniqueId;

typedef struct {
    size_t size;
    unsigned magic, version;
    int blocking, cga_cluster_size, min_ctas, max_ctas;
    const char *net_name;
    int split_share, traffic_class;
    const char *comm_name;
    int more[10];
} ncclConfig_t;

/* Bytes that a communicator takes, and those that its first use takes. */
enum { COMMUNICATOR_BYTES = 4 << 20, FIRST_USE_BYTES = 6 << 20 };

#pragma GCC visibility push(default)
int ncclCommInitRank(void **made, int ranks, ncclUniqueId id, int rank);
int ncclCommInitRankConfig(void **made, int ranks, ncclUniqueId id, int rank, ncclConfig_t *config);
int ncclCommSplit(void *whole, int color, int key, void **made, ncclConfig_t *config);
int ncclCommShrink(void *whole, int *without, int without_count, void **made, ncclConfig_t *config,
                   int flags);
int ncclCommGrow(void *part, int ranks, const ncclUniqueId *id, int rank, void **made,
                 ncclConfig_t *config);
int ncclCommInitAll(void **made, int devices, const int *list);
int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, void *communicator,
                  void *stream);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclCommFinalize(void *communicator); /* takes as much as a use */
int ncclCommDestroy(void *communicator);
#pragma GCC visibility pop

#endif
