/* training_pool.h: a caching allocator like those of deep-learning frameworks, without memory:
 * it only returns addresses and reports them.
 *
 * Sizes are rounded up to 512 bytes. A freed block is kept for the next request
 * of its size, the one freed last first, so that the steps of a training run
 * get the same addresses again and again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_TRAINING_POOL_H
#define BENCH_TRAINING_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "memledger/memledger.h"

struct block {
    const void *address;
    size_t bytes;
};

/* Opens the spaces; call once. */
void training_pool_open(void);

struct block training_alloc(size_t bytes);
void training_free(struct block block);
void training_label(struct block block, const char *name, enum memledger_category category);

#endif
