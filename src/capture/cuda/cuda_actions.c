/* cuda_actions.c: see cuda_actions.h.
 *
 * Blocks are removed from the book before the call that frees them, because the driver may give
 * their address to another thread before that call returns. They are put back if the call fails.
 * New blocks are entered after the call that allocates them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_actions.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "compiler.h"
#include "cuda_async.h"
#include "cuda_book.h"
#include "cuda_driver.h"
#include "cuda_older.h"
#include "cuda_pools.h"
#include "cuda_turns.h"
#include "cuda_virtual.h"
#include "recorder.h"

static_assert(sizeof(struct ml_cuda_block) <= sizeof(((struct ml_cuda_call *)0)->saved),
              "a block fits a call's saved words");

static void round_up(struct ml_cuda_state *book, unsigned device, uint64_t context, uint32_t stack)
{
    struct ml_cuda_cause rounding = {ML_IN_ROUNDING, stack, context, ML_CUDA_PAGE_BYTES,
                                     ML_CUDA_PAGE_BYTES};

    ml_cuda_settle(book, device, &rounding);
}

static void opened(struct ml_cuda_state *book, const struct ml_cuda_call *call,
                   enum ml_cuda_sort sort, uint64_t bytes, uint32_t stack)
{
    int device = ml_cuda_current_device();
    struct ml_cuda_block block = {
        .addr = ml_cuda_out_arg(call),
        .size = bytes,
        .context = ml_cuda_current_context(),
        .stack = stack,
        .sort = (uint8_t)sort,
        .device = (uint8_t)(device < 0 ? 0 : device),
    };

    if (!block.addr)
        return;
    ml_cuda_open_block(book, &block);
    if (ml_cuda_sorts[sort].charged)
        round_up(book, block.device, block.context, stack);
}

/* ---- Memory by address --------------------------------------------------- */

static void end_alloc(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                      uint32_t stack)
{
    if (ok)
        opened(book, call, ML_SORT_MEMORY, call->args[1], stack);
}

static void end_alloc_pitch(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                            uint32_t stack)
{
    if (ok)
        opened(book, call, ML_SORT_MEMORY, *(const uint64_t *)call->args[1] * call->args[3], stack);
}

static void end_alloc_managed(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                              uint32_t stack)
{
    if (ok)
        opened(book, call, ML_SORT_MANAGED, call->args[1], stack);
}

static void end_alloc_host(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                           uint32_t stack)
{
    if (ok)
        opened(book, call, ML_SORT_PINNED, call->args[1], stack);
}

static void end_register(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                         uint32_t stack)
{
    struct ml_cuda_block block = {
        .addr = call->args[0],
        .size = call->args[1],
        .context = ml_cuda_current_context(),
        .stack = stack,
        .sort = ML_SORT_REGISTERED,
    };

    if (ok)
        ml_cuda_open_block(book, &block);
}

static void end_ipc_open(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                         uint32_t stack)
{
    uint64_t bytes;

    if (ok && ml_cuda_get_address_range(ml_cuda_out_arg(call), &bytes))
        opened(book, call, ML_SORT_IMPORTED, bytes, stack);
}

static void close_saved(struct ml_cuda_state *book, struct ml_cuda_call *call,
                        struct ml_cuda_block *found)
{
    struct ml_cuda_block old;

    if (!found)
        return;
    ml_cuda_close_block(book, found, &old);
    memcpy(call->saved, &old, sizeof(old));
}

/* After the call: the block that begin removed, if any; put back if the call failed. */
static bool closed(struct ml_cuda_state *book, const struct ml_cuda_call *call, bool ok,
                   struct ml_cuda_block *ret)
{
    memcpy(ret, call->saved, sizeof(*ret));
    if (ret->sort == ML_SORT_NONE)
        return false;
    if (ret->sort == ML_SORT_OLDER && !ok)
        ml_cuda_older_kept(book, ret);
    else if (!ok)
        ml_cuda_open_block(book, ret);
    return ok;
}

static void begin_free(struct ml_cuda_state *book, struct ml_cuda_call *call)
{
    static const enum ml_cuda_sort may_be[] = {ML_SORT_MEMORY, ML_SORT_ASYNC, ML_SORT_MANAGED,
                                               ML_SORT_IMPORTED};
    struct ml_cuda_block *found = NULL;

    for (size_t i = 0; i < ML_ARRAY_SIZE(may_be) && !found; i++)
        found = ml_cuda_blocks_find(book, may_be[i], call->args[0]);
    close_saved(book, call, found);
    if (!found)
        ml_cuda_older_freed(book, call);
}

/* Managed pages are not booked, whatever brought them to the device. */
static void pages_gone(struct ml_cuda_state *book, const struct ml_cuda_block *old)
{
    struct ml_cuda_cause none = {.account = ML_IN_OTHER};

    ml_cuda_settle(book, old->device, &none);
}

static void end_free(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok, uint32_t stack)
{
    struct ml_cuda_block old;

    if (!closed(book, call, ok, &old))
        return;
    if (old.sort == ML_SORT_ASYNC)
        ml_cuda_pools_look(book, stack);
    else if (old.sort == ML_SORT_MANAGED)
        pages_gone(book, &old);
    else if (old.sort == ML_SORT_OLDER)
        ml_cuda_older_settle(book, old.device);
    else
        round_up(book, old.device, old.context, stack);
}

static void end_close(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                      uint32_t stack)
{
    struct ml_cuda_block old;

    (void)stack;
    closed(book, call, ok, &old);
}

static void begin_free_host(struct ml_cuda_state *book, struct ml_cuda_call *call)
{
    close_saved(book, call, ml_cuda_blocks_find(book, ML_SORT_PINNED, call->args[0]));
}

static void begin_unregister(struct ml_cuda_state *book, struct ml_cuda_call *call)
{
    close_saved(book, call, ml_cuda_blocks_find(book, ML_SORT_REGISTERED, call->args[0]));
}

static void begin_ipc_close(struct ml_cuda_state *book, struct ml_cuda_call *call)
{
    close_saved(book, call, ml_cuda_blocks_find(book, ML_SORT_IMPORTED, call->args[0]));
}

static void begin_array_destroy(struct ml_cuda_state *book, struct ml_cuda_call *call)
{
    close_saved(book, call, ml_cuda_blocks_find(book, ML_SORT_ARRAY, call->args[0]));
}

/* Only the driver knows the size of an array's layout: the size is the change of the difference,
 * and 0 if the array fits into an existing page. */
static void end_array_create(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                             uint32_t stack)
{
    int device = ml_cuda_current_device();
    struct ml_cuda_charges *charges = &book->charges[device < 0 ? 0 : device];
    struct ml_cuda_reading r;
    int64_t grown = 0;

    if (!ok || device < 0)
        return;
    if (charges->looked && ml_cuda_nvml_read((unsigned)device, &r))
        grown = ml_cuda_difference((unsigned)device, &r) - charges->residual;
    opened(book, call, ML_SORT_ARRAY, grown > 0 ? (uint64_t)grown : 0, stack);
}

/* ---- Pools and graphs ---------------------------------------------------- */

static void end_free_async(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                           uint32_t stack)
{
    struct ml_cuda_block old;

    if (closed(book, call, ok, &old) && old.sort == ML_SORT_MEMORY)
        round_up(book, old.device, old.context, stack);
    ml_cuda_ended_pools_look(book);
    atomic_store_explicit(&ml_cuda_dirty_pools, 1, memory_order_relaxed);
}

static void end_synchronize(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                            uint32_t stack)
{
    (void)call;
    (void)ok;
    atomic_store_explicit(&ml_cuda_dirty_pools, 0, memory_order_relaxed);
    ml_cuda_pools_look(book, stack);
}

/* The pool may be older than the recording. */
static void begin_pool(struct ml_cuda_state *book, struct ml_cuda_call *call)
{
    int device = ml_recorder_is_late() ? ml_cuda_current_device() : -1;

    if (device >= 0)
        ml_cuda_pool_adopt(book, call->args[0], (unsigned)device);
}

/* Before the call, because the pool cannot be queried afterwards. */
static void begin_pool_destroy(struct ml_cuda_state *book, struct ml_cuda_call *call)
{
    begin_pool(book, call);
    ml_cuda_pool_set_ended(book, call->args[0], true);
}

static void end_pool_destroy(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                             uint32_t stack)
{
    (void)stack;
    if (ok)
        ml_cuda_ended_pools_look(book);
    else
        ml_cuda_pool_set_ended(book, call->args[0], false);
}

/* A destroyed pool may have had the same handle. */
static void end_pool_create(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                            uint32_t stack)
{
    (void)stack;
    if (ok)
        ml_cuda_pool_is_new(book, ml_cuda_out_arg(call));
}

static void end_graph(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                      uint32_t stack)
{
    int ordinal;

    (void)call;
    (void)ok;
    if (ml_cuda_get_ordinal(&ordinal))
        ml_cuda_graphs_look(book, ordinal, stack);
}

static void end_graph_trim(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                           uint32_t stack)
{
    (void)ok;
    ml_cuda_graphs_look(book, (int)call->args[0], stack);
}

/* ---- Virtual memory ------------------------------------------------------ */

/* The head of the properties that cuMemCreate takes. */
struct allocation_properties {
    int type;
    int handle_types;
    int location_type; /* 1: a device */
    int location;
};

static void end_create(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                       uint32_t stack)
{
    const struct allocation_properties *p = (const void *)call->args[2];
    int device = ok && p->location_type == 1 ? ml_cuda_device(p->location) : -1;
    struct ml_cuda_block block = {
        .addr = ok ? ml_cuda_out_arg(call) : 0,
        .size = call->args[1],
        .stack = stack,
        .sort = ML_SORT_HANDLE,
        .device = (uint8_t)device,
    };

    if (device < 0)
        return;
    ml_cuda_handle_made(book, &block);
    round_up(book, block.device, 0, stack);
}

static void begin_release(struct ml_cuda_state *book, struct ml_cuda_call *call)
{
    struct ml_cuda_block old = {.sort = ML_SORT_NONE};

    ml_cuda_handle_released(book, call->args[0], &old);
    memcpy(call->saved, &old, sizeof(old));
}

static void end_release(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                        uint32_t stack)
{
    struct ml_cuda_block old;

    memcpy(&old, call->saved, sizeof(old));
    if (old.sort == ML_SORT_NONE)
        ml_cuda_older_settle_here(book);
    else if (ok)
        round_up(book, old.device, 0, stack);
    else
        ml_cuda_handle_restored(book, &old);
}

static void end_retain(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                       uint32_t stack)
{
    (void)stack;
    if (ok)
        ml_cuda_handle_retained(book, ml_cuda_out_arg(call));
}

static void end_map(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok, uint32_t stack)
{
    (void)stack;
    if (ok)
        ml_cuda_handle_mapped(book, call->args[3], call->args[0], call->args[1]);
}

static void end_unmap(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                      uint32_t stack)
{
    int device = ok ? ml_cuda_range_unmapped(book, call->args[0], call->args[1]) : -1;

    if (device >= 0)
        round_up(book, (unsigned)device, 0, stack);
    else
        ml_cuda_older_settle_here(book);
}

/* ---- First calls --------------------------------------------------------- */

static struct ml_cuda_block *managed_around(struct ml_cuda_state *book, uint64_t addr)
{
    for (uint32_t i = 0; book->managed_blocks && i < ML_CUDA_BLOCK_SLOTS; i++) {
        struct ml_cuda_block *b = &book->blocks[i];
        if (b->sort == ML_SORT_MANAGED && addr >= b->addr && addr - b->addr < b->size)
            return b;
    }
    return NULL;
}

static uint64_t whole_pages(uint64_t bytes)
{
    return (bytes + ML_CUDA_PAGE_BYTES - 1) & ~(uint64_t)(ML_CUDA_PAGE_BYTES - 1);
}

/* The first fill or copy of its kind may also bring managed memory to the device; only the rest is
 * the cost of the call itself. */
static void end_first_call(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                           uint32_t stack)
{
    struct ml_cuda_block *to = ok ? managed_around(book, call->args[0]) : NULL;
    int device = ml_cuda_current_device();

    (void)stack;
    if (to && !to->brought && device == to->device)
        to->brought = ml_cuda_let_pass(book, to->device, whole_pages(to->size));
}

/* ---- Contexts ------------------------------------------------------------ */

static bool dies_with(const struct ml_cuda_block *block, uint64_t context)
{
    return block->sort != ML_SORT_NONE && block->sort != ML_SORT_HANDLE &&
           block->sort != ML_SORT_MAPPING && block->context == context;
}

static void context_gone(struct ml_cuda_state *book, uint64_t context)
{
    struct ml_cuda_block old;

    if (!context)
        return;
    for (uint32_t i = 0; i < ML_CUDA_BLOCK_SLOTS; i++) {
        while (dies_with(&book->blocks[i], context)) {
            ml_cuda_close_block(book, &book->blocks[i], &old);
            ml_cuda_leave_out(book, old.device, -(int64_t)old.brought);
        }
    }
    for (unsigned i = 0; i < book->devices; i++)
        ml_cuda_charges_end(book, i, context);
    ml_cuda_pools_look(book, 0); /* which had blocks of it */
}

static void end_context(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                        uint32_t stack)
{
    (void)stack;
    if (ok)
        context_gone(book, call->args[0]);
}

static void end_primary_make(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                             uint32_t stack)
{
    int device = ok ? ml_cuda_device((int)call->args[1]) : -1;

    (void)stack;
    if (device >= 0)
        book->primary[device] = ml_cuda_out_arg(call);
}

/* Released by all users, or reset. */
static void end_primary(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                        uint32_t stack)
{
    int ordinal = (int)call->args[0];
    int device = ok ? ml_cuda_device(ordinal) : -1;
    bool active = true;

    (void)stack;
    if (device < 0 || !ml_cuda_get_primary_active(ordinal, &active) || active)
        return;
    context_gone(book, book->primary[device]);
    ml_cuda_graphs_look(book, ordinal, 0);
    book->primary[device] = 0;
}

/* ---- The table ----------------------------------------------------------- */

static bool always(struct ml_cuda_state *book, struct ml_cuda_call *call)
{
    (void)book;
    (void)call;
    return true;
}

const struct ml_cuda_plan ml_cuda_plans[ML_CUDA_ACTIONS] = {
    [ML_CUDA_ALLOC] = {.underway = true, .asks = always, .end = end_alloc},
    [ML_CUDA_ALLOC_PITCH] = {.underway = true, .asks = always, .end = end_alloc_pitch},
    [ML_CUDA_ALLOC_MANAGED] = {.asks = always, .end = end_alloc_managed},
    [ML_CUDA_ALLOC_HOST] = {.reach = ML_THIS_DEVICE,
                            .account = ML_IN_OTHER,
                            .underway = true,
                            .end = end_alloc_host},
    [ML_CUDA_FREE] = {.underway = true, .begin = begin_free, .end = end_free},
    [ML_CUDA_FREE_HOST] = {.begin = begin_free_host, .end = end_close},
    [ML_CUDA_REGISTER] = {.reach = ML_THIS_DEVICE,
                          .account = ML_IN_OTHER,
                          .underway = true,
                          .end = end_register},
    [ML_CUDA_UNREGISTER] = {.begin = begin_unregister, .end = end_close},
    [ML_CUDA_ALLOC_ASYNC] = {.underway = true,
                             .frequent = true,
                             .asks = ml_cuda_async_asks,
                             .begin = ml_cuda_async_begin,
                             .end = ml_cuda_async_end},
    [ML_CUDA_ALLOC_POOL] = {.underway = true,
                            .frequent = true,
                            .asks = ml_cuda_async_asks,
                            .begin = ml_cuda_async_begin,
                            .end = ml_cuda_async_end},
    [ML_CUDA_FREE_ASYNC] = {.begin = begin_free, .end = end_free_async},
    [ML_CUDA_POOL_CREATE] = {.end = end_pool_create},
    [ML_CUDA_POOL_DESTROY] = {.reach = ML_THIS_DEVICE,
                              .account = ML_IN_POOLS,
                              .underway = true,
                              .begin = begin_pool_destroy,
                              .end = end_pool_destroy},
    [ML_CUDA_POOL_TRIM] = {.underway = true, .begin = begin_pool, .end = end_synchronize},
    [ML_CUDA_STREAM] = {.reach = ML_THIS_DEVICE,
                        .account = ML_IN_OTHER,
                        .underway = true,
                        .end = end_synchronize},
    [ML_CUDA_SYNCHRONIZE] = {.end = end_synchronize},
    [ML_CUDA_CREATE] = {.underway = true, .asks = always, .end = end_create},
    [ML_CUDA_RELEASE] = {.underway = true, .begin = begin_release, .end = end_release},
    [ML_CUDA_RETAIN_HANDLE] = {.end = end_retain},
    [ML_CUDA_MAP] = {.end = end_map},
    [ML_CUDA_UNMAP] = {.underway = true, .end = end_unmap},
    [ML_CUDA_ARRAY_CREATE] = {.reach = ML_THIS_DEVICE,
                              .account = ML_IN_ARRAYS,
                              .underway = true,
                              .end = end_array_create},
    [ML_CUDA_ARRAY_DESTROY] = {.reach = ML_THIS_DEVICE,
                               .account = ML_IN_ROUNDING,
                               .underway = true,
                               .begin = begin_array_destroy,
                               .end = end_close},
    [ML_CUDA_IPC_OPEN] = {.asks = always, .end = end_ipc_open},
    [ML_CUDA_IPC_CLOSE] = {.begin = begin_ipc_close, .end = end_close},
    [ML_CUDA_GRAPH] = {.reach = ML_THIS_DEVICE,
                       .account = ML_IN_GRAPHS,
                       .underway = true,
                       .end = end_graph},
    [ML_CUDA_GRAPH_TRIM] = {.underway = true, .end = end_graph_trim},
    [ML_CUDA_GRAPH_LAUNCH] = {.end = end_graph},
    [ML_CUDA_INIT] = {.reach = ML_ALL_DEVICES, .account = ML_IN_CONTEXT, .underway = true},
    [ML_CUDA_CONTEXT_MAKE] = {.reach = ML_ALL_DEVICES, .account = ML_IN_CONTEXT, .underway = true},
    [ML_CUDA_PEER] = {.reach = ML_ALL_DEVICES, .account = ML_IN_CONTEXT, .underway = true},
    [ML_CUDA_CONTEXT_END] = {.reach = ML_ALL_DEVICES,
                             .account = ML_IN_CONTEXT,
                             .underway = true,
                             .end = end_context},
    [ML_CUDA_PRIMARY_MAKE] = {.reach = ML_ALL_DEVICES,
                              .account = ML_IN_CONTEXT,
                              .underway = true,
                              .end = end_primary_make},
    [ML_CUDA_PRIMARY_END] = {.reach = ML_ALL_DEVICES,
                             .account = ML_IN_CONTEXT,
                             .underway = true,
                             .end = end_primary},
    [ML_CUDA_MODULE] = {.reach = ML_THIS_DEVICE, .account = ML_IN_MODULES, .underway = true},
    [ML_CUDA_LIMIT] = {.reach = ML_THIS_DEVICE, .account = ML_IN_LIMITS, .underway = true},
    [ML_CUDA_FIRST_LAUNCH] = {.reach = ML_THIS_DEVICE, .account = ML_IN_MODULES, .underway = true},
    [ML_CUDA_FIRST_LAUNCH_1] = {.reach = ML_THIS_DEVICE,
                                .account = ML_IN_MODULES,
                                .underway = true},
    [ML_CUDA_FIRST_ASK_0] = {.reach = ML_THIS_DEVICE, .account = ML_IN_MODULES, .underway = true},
    [ML_CUDA_FIRST_ASK_1] = {.reach = ML_THIS_DEVICE, .account = ML_IN_MODULES, .underway = true},
    [ML_CUDA_FIRST_ASK_2] = {.reach = ML_THIS_DEVICE, .account = ML_IN_MODULES, .underway = true},
    [ML_CUDA_FIRST_CALL] = {.reach = ML_THIS_DEVICE,
                            .account = ML_IN_OTHER,
                            .underway = true,
                            .end = end_first_call},
};
