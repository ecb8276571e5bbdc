/* cuda_book.c: before and after each call of the CUDA driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_book.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_actions.h"
#include "cuda_call.h"
#include "cuda_labels.h"
#include "cuda_pools.h"
#include "cuda_turns.h"
#include "memledger/memledger.h"
#include "record.h"
#include "recorder.h"
#include "stack.h"
#include "sys.h"

#define OUT_OF_MEMORY 2 /* CUDA_ERROR_OUT_OF_MEMORY */

#define LOCK_PATIENCE_S 10 /* a thousand threads may wait before us */

static struct ml_cuda_state *the_book;

/* ---- Start and end ------------------------------------------------------ */

void ml_cuda_book_last(struct ml_cuda_state *book)
{
    ml_cuda_pools_look(book, 0);
    for (unsigned i = 0; i < book->devices; i++) {
        if (!book->charges[i].booked)
            continue;
        ml_cuda_turn_begin(book, i);
        ml_cuda_sample(book, i, ML_SAMPLE_LAST);
    }
}

/* The last samples of the program's devices. An exit called from a handler of the program may have
 * interrupted a call of this very thread. The turn is kept, and the collector gives it back when
 * the process has ended. */
static void at_exit(void)
{
    struct ml_cuda_state *book = the_book;
    struct ml_quiet quiet;

    if (ml_cuda_is_inside_call() || !ml_recorder_recording() || !ml_cuda_is_started(book))
        return;
    ml_quiet_begin(&quiet);
    if (ml_lock_within(&book->lock, 1)) {
        ml_cuda_book_last(book);
        ml_unlock(&book->lock);
    }
    ml_quiet_end(&quiet);
}

/* Registered once the driver runs: its own exit handlers, which free everything, are then
 * registered before this one and run after it. */
static void register_at_exit(void)
{
    static _Atomic bool registered; /* handlers outlive a fork */

    if (!atomic_load_explicit(&registered, memory_order_relaxed) &&
        !atomic_exchange_explicit(&registered, true, memory_order_relaxed))
        atexit(at_exit);
}

/* Called without the lock: opening NVML takes the loader's. Calls of other threads are not measured
 * meanwhile. A forked child of a process that had NVML open does without it: it cannot use CUDA,
 * and a thread of its parent may have been inside NVML. */
static void start(struct ml_cuda_state *book)
{
    static bool opened; /* in this process or in one that forked it */
    uint32_t state = ML_BOOK_NOT_STARTED;

    if (!atomic_compare_exchange_strong_explicit(&book->start, &state, ML_BOOK_STARTING,
                                                 memory_order_relaxed, memory_order_relaxed))
        return;
    book->devices = opened ? 0 : ml_cuda_nvml_open();
    opened = true;
    /* Pairs with the acquire load in ml_cuda_is_started. */
    atomic_store_explicit(&book->start, ML_BOOK_STARTED, memory_order_release);
}

/* Counts a call that is missing from the book. */
static void count_lost(void)
{
    _Atomic uint64_t *lost = ml_recorder_lost();

    if (lost)
        atomic_fetch_add_explicit(lost, 1, memory_order_relaxed);
}

/* @return NULL: there is no memory for it */
static struct ml_cuda_state *open_book(void)
{
    struct ml_cuda_state *book = ml_cuda_book();
    struct ml_cuda_state *none = NULL;

    if (!book) {
        book = ml_recorder_map_wiped(sizeof(*book));
        if (!book)
            return NULL;
        if (!__atomic_compare_exchange_n(&the_book, &none, book, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            book = none; /* the other page stays unused: see recorder.c */
    }
    if (!ml_cuda_is_started(book))
        start(book);
    return book;
}

static struct ml_cuda_state *lock_book(void)
{
    struct ml_cuda_state *book = ml_recorder_start() ? open_book() : NULL;

    if (!book)
        return NULL;
    if (!ml_lock_within(&book->lock, LOCK_PATIENCE_S)) {
        count_lost();
        return NULL;
    }
    return book;
}

/* ---- A recording that begins while the process runs ---------------------- */

void ml_cuda_book_prepare(bool driver_runs)
{
    struct ml_cuda_state *book = driver_runs ? open_book() : the_book;
    struct ml_quiet quiet;

    if (!book)
        return;
    ml_quiet_begin(&quiet);
    if (ml_lock_within(&book->lock, LOCK_PATIENCE_S)) {
        ml_cuda_blocks_clear(book);
        book->managed_blocks = book->items_used = book->free_item = 0;
        book->pools_used = book->gone_count = 0;
        memset(book->graph_reserved, 0, sizeof(book->graph_reserved));
        memset(book->primary, 0, sizeof(book->primary));
        memset(book->charges, 0, sizeof(book->charges));
        ml_unlock(&book->lock);
    }
    ml_quiet_end(&quiet);
}

struct ml_cuda_state *ml_cuda_book(void)
{
    return __atomic_load_n(&the_book, __ATOMIC_ACQUIRE);
}

bool ml_cuda_book_with(bool (*change)(struct ml_cuda_state *book))
{
    struct ml_cuda_state *book;
    struct ml_quiet quiet;
    bool done = false;

    ml_quiet_begin(&quiet);
    book = lock_book();
    if (book) {
        done = change(book);
        ml_unlock(&book->lock);
    }
    ml_quiet_end(&quiet);
    if (done)
        register_at_exit();
    return done;
}

/* ---- Blocks ------------------------------------------------------------- */

const struct ml_cuda_sort_place ml_cuda_sorts[] = {
    [ML_SORT_MEMORY] = {ML_IN_MEMORY, true},      [ML_SORT_MANAGED] = {ML_IN_MANAGED, false},
    [ML_SORT_PINNED] = {ML_IN_PINNED, false},     [ML_SORT_REGISTERED] = {ML_IN_REGISTERED, false},
    [ML_SORT_ASYNC] = {ML_IN_ASYNC, false},       [ML_SORT_ARRAY] = {ML_IN_ARRAYS, true},
    [ML_SORT_IMPORTED] = {ML_IN_IMPORTED, false}, [ML_SORT_HANDLE] = {ML_IN_VIRTUAL, true},
    [ML_SORT_MAPPING] = {ML_IN_VIRTUAL, false},
};

static uint32_t space_of(const struct ml_cuda_block *block)
{
    return ml_cuda_space(block->device, ml_cuda_sorts[block->sort].space);
}

/* If the block is there already, its free was not seen. */
void ml_cuda_open_block(struct ml_cuda_state *book, const struct ml_cuda_block *block)
{
    struct ml_cuda_block *there =
        ml_cuda_blocks_find(book, (enum ml_cuda_sort)block->sort, block->addr);
    struct ml_cuda_block old;

    if (there)
        ml_cuda_close_block(book, there, &old);
    if (!ml_cuda_blocks_put(book, block)) {
        ml_recorder_cannot_follow(); /* its free would be unknown, so it is not recorded */
        return;
    }
    if (ml_cuda_sorts[block->sort].charged)
        ml_cuda_enter(book, block->device, (int64_t)block->size);
    book->managed_blocks += block->sort == ML_SORT_MANAGED;
    ml_record_alloc_stack(space_of(block), block->addr, block->size, block->stack);
    ml_cuda_label(space_of(block), block->addr);
}

void ml_cuda_close_block(struct ml_cuda_state *book, struct ml_cuda_block *block,
                         struct ml_cuda_block *ret)
{
    *ret = *block;
    ml_cuda_blocks_remove(book, block);
    if (ml_cuda_sorts[ret->sort].charged)
        ml_cuda_enter(book, ret->device, -(int64_t)ret->size);
    book->managed_blocks -= ret->sort == ML_SORT_MANAGED;
    ml_record_free(space_of(ret), (void *)(uintptr_t)ret->addr);
}

/* ---- Before and after ---------------------------------------------------- */

static void look_before(struct ml_cuda_state *book, enum ml_cuda_reach reach)
{
    int device = reach == ML_THIS_DEVICE ? ml_cuda_current_device() : -1;

    if (device >= 0)
        ml_cuda_look(book, (unsigned)device);
    for (unsigned i = 0; reach == ML_ALL_DEVICES && i < book->devices; i++)
        ml_cuda_look(book, i);
}

/* A new context owns what the driver takes for it, until the context ends. */
static uint64_t owner_of(const struct ml_cuda_call *call)
{
    switch (call->action) {
    case ML_CUDA_CONTEXT_MAKE:
    case ML_CUDA_PRIMARY_MAKE: return ml_cuda_out_arg(call);
    case ML_CUDA_INIT:
    case ML_CUDA_CONTEXT_END:
    case ML_CUDA_PRIMARY_END:
    case ML_CUDA_POOL_DESTROY:
    case ML_CUDA_GRAPH: return 0;
    default: return ml_cuda_current_context();
    }
}

static bool ends_context(const struct ml_cuda_call *call)
{
    return call->action == ML_CUDA_CONTEXT_END || call->action == ML_CUDA_PRIMARY_END;
}

/* When a context ends, memory beyond what it owned is older than the recording, or not taken off
 * any account. */
static void settle_on(struct ml_cuda_state *book, unsigned device, const struct ml_cuda_call *call,
                      struct ml_cuda_cause cause)
{
    enum ml_cuda_space before = ml_cuda_before_account(book, device);

    if (ends_context(call) && book->charges[device].accounts[before].bytes)
        cause = (struct ml_cuda_cause){.account = before, .most_down = ML_CUDA_ANY_BYTES};
    else if (ends_context(call))
        cause.most_down = 0;
    ml_cuda_settle(book, device, &cause);
}

static void settle_after(struct ml_cuda_state *book, const struct ml_cuda_call *call,
                         const struct ml_cuda_plan *plan, bool ok, uint32_t stack)
{
    struct ml_cuda_cause cause = {plan->account, stack, ok ? owner_of(call) : 0, ML_CUDA_ANY_BYTES,
                                  ML_CUDA_ANY_BYTES};
    int device = plan->reach == ML_THIS_DEVICE ? ml_cuda_current_device() : -1;

    if (device >= 0)
        settle_on(book, (unsigned)device, call, cause);
    for (unsigned i = 0; plan->reach == ML_ALL_DEVICES && i < book->devices; i++)
        settle_on(book, i, call, cause);
}

/* Call when everything that a call changed has been entered. */
static void sample_changed(struct ml_cuda_state *book)
{
    for (unsigned i = 0; i < book->devices; i++) {
        if (book->charges[i].changed)
            ml_cuda_sample(book, i, 0);
    }
}

static uint32_t devices_of(const struct ml_cuda_state *book, enum ml_cuda_reach reach)
{
    int device = reach == ML_ALL_DEVICES ? -1 : ml_cuda_current_device();

    if (reach == ML_ALL_DEVICES)
        return (uint32_t)(((uint64_t)1 << book->devices) - 1);
    return device < 0 ? 0 : 1u << device;
}

/* In the order of devices, so that no two processes wait for each other. */
static void begin_turns(struct ml_cuda_state *book, uint32_t devices)
{
    for (unsigned i = 0; i < ML_CUDA_DEVICES_MAX; i++) {
        if (devices >> i & 1 && ml_cuda_turn_begin(book, i) && book->charges[i].looked)
            ml_cuda_look(book, i); /* changes by other processes do not count as this call's */
    }
}

static void end_turns(struct ml_cuda_state *book, uint32_t devices)
{
    for (unsigned i = 0; i < ML_CUDA_DEVICES_MAX; i++) {
        if (devices >> i & 1)
            ml_cuda_turn_end(book, i);
    }
}

/* The resources of this thread's current call, in case it does not return: its own notes are on the
 * stack. */
static __thread struct {
    bool underway;
    uint32_t turns;
} taken;

static void begin_locked(struct ml_cuda_state *book, struct ml_cuda_call *call)
{
    const struct ml_cuda_plan *plan = &ml_cuda_plans[call->action];

    ml_cuda_count_up(&book->calls);
    if (plan->underway)
        atomic_fetch_add_explicit(&book->underway, 1, memory_order_relaxed);
    taken.underway = plan->underway;
    if (plan->underway && !plan->frequent) {
        taken.turns = devices_of(book, plan->reach);
        begin_turns(book, taken.turns);
    }
    look_before(book, plan->reach);
    if (plan->begin)
        plan->begin(book, call);
}

/* Only a thread with the lock may end turns. Without it they are kept, and the collector gives them
 * back when the process has ended. */
static void give_back_taken(struct ml_cuda_state *book, bool locked)
{
    ml_cuda_count_up(&book->calls);
    if (taken.underway)
        atomic_fetch_sub_explicit(&book->underway, 1, memory_order_relaxed);
    if (locked)
        end_turns(book, taken.turns);
    taken.underway = false;
    taken.turns = 0;
}

void ml_cuda_begin(struct ml_cuda_call *call)
{
    int saved_errno = errno;
    struct ml_cuda_state *book;
    struct ml_quiet quiet;

    ml_quiet_begin(&quiet);
    book = lock_book();
    memset(call->saved, 0, sizeof(call->saved));
    call->recording = book ? ml_recorder_recording() : 0;
    if (book) {
        begin_locked(book, call);
        ml_unlock(&book->lock);
    }
    ml_quiet_end(&quiet);
    errno = saved_errno;
}

/* For a call that the book will not hear of again. */
static void give_back(bool is_lost)
{
    struct ml_cuda_state *book = the_book;
    int saved_errno = errno;
    struct ml_quiet quiet;
    bool locked;

    if (!book || (!taken.underway && !taken.turns))
        return;
    ml_quiet_begin(&quiet);
    locked = ml_lock_within(&book->lock, LOCK_PATIENCE_S);
    if (is_lost)
        count_lost();
    give_back_taken(book, locked);
    if (locked)
        ml_unlock(&book->lock);
    ml_quiet_end(&quiet);
    errno = saved_errno;
}

void ml_cuda_abandon(void)
{
    give_back(true);
}

/* Only a call that makes an entry needs a stack. */
static bool needs_stack(struct ml_cuda_state *book, struct ml_cuda_call *call, int result)
{
    const struct ml_cuda_plan *plan = &ml_cuda_plans[call->action];

    return !result && (plan->reach != ML_NO_DEVICE || (plan->asks && plan->asks(book, call)));
}

static void record_failure(unsigned device, enum ml_cuda_sort sort, uint64_t bytes)
{
    uint32_t space = ml_cuda_space(device, ml_cuda_sorts[sort].space);

    ml_record_oom(space, bytes, 0);
}

static void report_failure(const struct ml_cuda_call *call)
{
    int device = ml_cuda_current_device();
    bool host = call->action == ML_CUDA_ALLOC_HOST;

    switch (call->action) {
    case ML_CUDA_ALLOC:
    case ML_CUDA_ALLOC_HOST:
    case ML_CUDA_ALLOC_ASYNC:
    case ML_CUDA_ALLOC_POOL:
    case ML_CUDA_CREATE:
        record_failure(device < 0 ? 0 : (unsigned)device, host ? ML_SORT_PINNED : ML_SORT_MEMORY,
                       call->args[1]);
        break;
    default: break;
    }
}

static void end_locked(struct ml_cuda_state *book, struct ml_cuda_call *call,
                       const struct ml_cuda_plan *plan, bool ok, uint32_t stack)
{
    if (plan->end)
        plan->end(book, call, ok, stack);
    if (plan->reach != ML_NO_DEVICE)
        settle_after(book, call, plan, ok, stack);
    sample_changed(book);
}

void ml_cuda_end(struct ml_cuda_call *call, int result)
{
    const struct ml_cuda_plan *plan = &ml_cuda_plans[call->action];
    struct ml_cuda_state *book = the_book;
    int saved_errno = errno;
    struct ml_quiet quiet;
    uint32_t stack;
    bool locked;

    if (!call->recording)
        return;
    if (call->recording != ml_recorder_recording()) {
        give_back(false); /* what it did is older than the next recording */
        return;
    }
    ml_quiet_begin(&quiet);
    stack = needs_stack(book, call, result) ? ml_stack_here() : 0;
    if (!result)
        register_at_exit();
    if (result == OUT_OF_MEMORY)
        report_failure(call);
    locked = ml_lock_within(&book->lock, LOCK_PATIENCE_S);
    if (locked)
        end_locked(book, call, plan, !result, stack);
    else
        count_lost();
    give_back_taken(book, locked);
    if (locked)
        ml_unlock(&book->lock);
    ml_quiet_end(&quiet);
    errno = saved_errno;
}
