/* nvtx_ranges.c: see nvtx_ranges.h.
 *
 * Each thread that pushes has a stack of its open ranges, mapped at its first
 * push and unmapped when the thread ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "nvtx_ranges.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "compiler.h"
#include "memledger/memledger.h"
#include "nvtx_abi.h"
#include "nvtx_domains.h"
#include "record.h"
#include "recorder.h"
#include "sys.h"

#define RANGES_MAX 16384u

/* Places count from 1; 0: none. */
struct range {
    uint32_t name;
    uint32_t domain;
    uint32_t level; /* within the domain */
    uint32_t outer; /* place of the domain's next outer range */
};

struct stack {
    uint32_t depth;
    uint32_t beyond;                     /* pushes while it was full */
    uint32_t innermost[ML_NVTX_DOMAINS]; /* place of the domain's innermost range */
    struct range ranges[RANGES_MAX];
};

static __thread struct stack *own_stack;

/* ---- A thread's stack --------------------------------------------------- */

static pthread_key_t end_key;
static _Atomic bool end_key_made;

/* Other libraries' destructors that push later get a new stack. */
static void thread_end(void *stack)
{
    int saved_errno = errno;

    own_stack = NULL;
    ml_sys_unmap(stack, sizeof(struct stack));
    errno = saved_errno;
}

void ml_nvtx_ranges_init(void)
{
    static _Atomic bool begun;

    if (!atomic_exchange(&begun, true) && !pthread_key_create(&end_key, thread_end))
        /* Pairs with the acquire load in make_stack. */
        atomic_store_explicit(&end_key_made, true, memory_order_release);
}

static ML_NOINLINE struct stack *make_stack(void)
{
    int saved_errno = errno;
    struct ml_quiet quiet;

    ml_quiet_begin(&quiet);
    own_stack = ml_sys_reserve(sizeof(struct stack));
    ml_quiet_end(&quiet);
    /* May call calloc, which may come back here through a hook. */
    if (own_stack && atomic_load_explicit(&end_key_made, memory_order_acquire))
        pthread_setspecific(end_key, own_stack);
    errno = saved_errno;
    return own_stack;
}

/* ---- Push and pop ------------------------------------------------------- */

static struct range *range_at(struct stack *s, uint32_t place)
{
    return &s->ranges[place - 1];
}

/* A handler that interrupts this finds the place taken. */
static int open_range(struct stack *s, uint32_t domain, uint32_t name)
{
    uint32_t place = ++s->depth;
    struct range *r = range_at(s, place);

    atomic_signal_fence(memory_order_seq_cst);
    r->name = name;
    r->domain = domain;
    r->outer = s->innermost[domain];
    r->level = r->outer ? range_at(s, r->outer)->level + 1 : 0;
    s->innermost[domain] = place;
    return (int)r->level;
}

int ml_nvtx_push(uint32_t domain, uint32_t name)
{
    struct stack *s = own_stack ? own_stack : make_stack();

    if (ML_UNLIKELY(!s))
        return ML_NVTX_NO_LEVEL;
    if (ML_UNLIKELY(s->depth == RANGES_MAX)) {
        s->beyond++;
        ml_recorder_detail_lost();
        return ML_NVTX_NO_LEVEL;
    }
    ml_record_push(MEMLEDGER_SCOPE_NVTX, name);
    return open_range(s, domain, name);
}

/* Moves the range at `place` down by one. */
static void move_down(struct stack *s, uint32_t place, uint32_t removed)
{
    struct range *r = range_at(s, place);

    if (r->outer > removed)
        r->outer--;
    if (s->innermost[r->domain] == place)
        s->innermost[r->domain] = place - 1;
    *range_at(s, place - 1) = *r;
}

/* Removes a range below others; no handler may see it half done. */
static ML_NOINLINE void close_below(struct stack *s, uint32_t place)
{
    uint64_t signals = ml_sys_block_signals();

    for (uint32_t i = place; i <= s->depth; i++)
        ml_record_pop();
    s->innermost[range_at(s, place)->domain] = range_at(s, place)->outer;
    for (uint32_t i = place + 1; i <= s->depth; i++) {
        ml_record_push(MEMLEDGER_SCOPE_NVTX, range_at(s, i)->name);
        move_down(s, i, place);
    }
    s->depth--;
    ml_sys_restore_signals(signals);
}

/* Releases the place last, for a handler that interrupts this. */
static void close_top(struct stack *s)
{
    struct range *r = range_at(s, s->depth);

    s->innermost[r->domain] = r->outer;
    atomic_signal_fence(memory_order_seq_cst);
    s->depth--;
    ml_record_pop();
}

int ml_nvtx_pop(uint32_t domain)
{
    struct stack *s = own_stack;
    uint32_t place;
    int level;

    if (ML_UNLIKELY(!s))
        return ML_NVTX_NO_LEVEL;
    if (ML_UNLIKELY(s->beyond)) {
        s->beyond--;
        return ML_NVTX_NO_LEVEL;
    }
    place = s->innermost[domain];
    if (!place)
        return ML_NVTX_NO_LEVEL;
    level = (int)range_at(s, place)->level;
    if (ML_LIKELY(place == s->depth))
        close_top(s);
    else
        close_below(s, place);
    return level;
}
