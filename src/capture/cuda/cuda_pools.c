/* cuda_pools.c: see cuda_pools.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_pools.h"

#include <stddef.h>

#include "cuda_call.h"
#include "cuda_charges.h"
#include "cuda_driver.h"
#include "recorder.h"

_Atomic uint32_t ml_cuda_dirty_pools;

static struct ml_cuda_pool *find(struct ml_cuda_state *book, uint64_t pool)
{
    for (uint32_t i = 0; i < book->pools_used; i++) {
        if (book->pools[i].pool == pool)
            return &book->pools[i];
    }
    return NULL;
}

/* A pool that is checked again and again counts once, unless it alternates with another. */
static void count_refused(struct ml_cuda_state *book, uint64_t pool)
{
    if (pool != book->refused_pool)
        ml_recorder_cannot_follow();
    book->refused_pool = pool;
}

static struct ml_cuda_pool *find_or_add(struct ml_cuda_state *book, uint64_t pool, unsigned device)
{
    struct ml_cuda_pool *p = find(book, pool);

    if (p)
        return p;
    if (book->pools_used == ML_CUDA_POOLS_MAX) {
        count_refused(book, pool);
        return NULL;
    }
    p = &book->pools[book->pools_used++];
    *p = (struct ml_cuda_pool){.pool = pool, .device = (uint8_t)device};
    return p;
}

static void set_reserved(struct ml_cuda_state *book, struct ml_cuda_pool *p, uint64_t reserved,
                         uint32_t stack)
{
    struct ml_cuda_cause cause = {.account = ML_IN_POOLS, .stack = stack, .owner = p->pool};

    if (reserved == p->reserved)
        return;
    ml_cuda_charge(book, p->device, &cause, (int64_t)(reserved - p->reserved));
    p->reserved = reserved;
    book->charges[p->device].changed = true;
}

static void look(struct ml_cuda_state *book, struct ml_cuda_pool *p, uint32_t stack)
{
    uint64_t reserved;

    if (ml_cuda_get_pool_reserved(p->pool, &reserved))
        set_reserved(book, p, reserved, stack);
}

void ml_cuda_pool_enter(struct ml_cuda_state *book, uint64_t pool, unsigned device,
                        uint64_t reserved)
{
    struct ml_cuda_pool *p = find_or_add(book, pool, device);

    if (p)
        set_reserved(book, p, reserved, 0);
}

void ml_cuda_pool_adopt(struct ml_cuda_state *book, uint64_t pool, unsigned device)
{
    struct ml_cuda_cause before = {.account = ml_cuda_before_account(book, device)};
    struct ml_cuda_pool *p = find(book, pool) ? NULL : find_or_add(book, pool, device);

    if (!p)
        return;
    look(book, p, 0);
    ml_cuda_charge(book, device, &before, -(int64_t)p->reserved);
}

bool ml_cuda_pool_is_known(struct ml_cuda_state *book, uint64_t pool)
{
    return find(book, pool);
}

/* Called without the lock: a wrong result once costs a stack, or one entry its stack. */
bool ml_cuda_pool_has_changed(struct ml_cuda_state *book, uint64_t pool)
{
    const struct ml_cuda_pool *p = find(book, pool);
    uint64_t reserved;

    return !p || (ml_cuda_get_pool_reserved(pool, &reserved) && reserved != p->reserved);
}

void ml_cuda_pool_look(struct ml_cuda_state *book, uint64_t pool, unsigned device, uint32_t stack)
{
    struct ml_cuda_pool *p = pool ? find_or_add(book, pool, device) : NULL;

    if (p)
        look(book, p, stack);
}

void ml_cuda_pools_look(struct ml_cuda_state *book, uint32_t stack)
{
    for (uint32_t i = 0; i < book->pools_used; i++) {
        if (!book->pools[i].ended)
            look(book, &book->pools[i], stack);
    }
    ml_cuda_ended_pools_look(book);
}

/* @return whether nothing is left of it */
static bool settle_ended(struct ml_cuda_state *book, const struct ml_cuda_pool *p)
{
    struct ml_cuda_cause cause = {
        .account = ML_IN_POOLS, .owner = p->pool, .most_down = ML_CUDA_ANY_BYTES};

    if (book->charges[p->device].looked)
        ml_cuda_settle(book, p->device, &cause);
    else
        ml_cuda_charge(book, p->device, &cause, -(int64_t)p->reserved);
    return !ml_cuda_is_charged(book, p->device, ML_IN_POOLS, p->pool);
}

void ml_cuda_ended_pools_look(struct ml_cuda_state *book)
{
    for (uint32_t i = book->pools_used; i-- > 0;) {
        if (book->pools[i].ended && settle_ended(book, &book->pools[i]))
            book->pools[i] = book->pools[--book->pools_used];
    }
}

void ml_cuda_pool_set_ended(struct ml_cuda_state *book, uint64_t pool, bool ended)
{
    struct ml_cuda_pool *p = find(book, pool);

    if (p)
        p->ended = ended;
}

void ml_cuda_pool_is_new(struct ml_cuda_state *book, uint64_t pool)
{
    struct ml_cuda_pool *p = find(book, pool);
    struct ml_cuda_cause cause = {.account = ML_IN_POOLS, .owner = pool};

    if (!p)
        return;
    ml_cuda_charge(book, p->device, &cause, -(int64_t)p->reserved);
    *p = book->pools[--book->pools_used];
}

void ml_cuda_graphs_enter(struct ml_cuda_state *book, unsigned device, uint64_t reserved,
                          uint32_t stack)
{
    struct ml_cuda_cause cause = {.account = ML_IN_GRAPHS, .stack = stack};
    uint64_t before = book->graph_reserved[device];

    if (reserved == before)
        return;
    ml_cuda_charge(book, device, &cause, (int64_t)(reserved - before));
    book->graph_reserved[device] = reserved;
    book->charges[device].changed = true;
}

void ml_cuda_graphs_look(struct ml_cuda_state *book, int ordinal, uint32_t stack)
{
    int device = ml_cuda_device(ordinal);
    uint64_t reserved;

    if (device >= 0 && ml_cuda_get_graph_reserved(ordinal, &reserved))
        ml_cuda_graphs_enter(book, (unsigned)device, reserved, stack);
}
