/* cuda_state.h: the book of the CUDA driver in one process.
 *
 * Everything is in memory that the kernel clears in a forked child, which has none of its parent's
 * contexts. One lock guards it; it is held for bookkeeping, NVML readings and short queries to the
 * driver, never while the driver executes a call of the program, nor during a call of the loader.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_STATE_H
#define ML_CUDA_STATE_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cuda_nvml.h"
#include "cuda_places.h"
#include "lock.h"
#include "ring.h"

#define ML_CUDA_BLOCK_SLOTS (1u << 18)
#define ML_CUDA_ITEMS_MAX (1u << 16)
#define ML_CUDA_POOLS_MAX 256

static_assert(ML_CUDA_DEVICES_MAX <= ML_SESSION_DEVICES, "each has a place on the session page");

/* The kind of a block, so that the book understands the call that frees it. HANDLE and MAPPING are
 * the two states of cuMemCreate's memory; see cuda_virtual.h. */
enum ml_cuda_sort {
    ML_SORT_NONE, /* an empty slot */
    ML_SORT_MEMORY,
    ML_SORT_MANAGED,
    ML_SORT_PINNED,
    ML_SORT_REGISTERED,
    ML_SORT_ASYNC,
    ML_SORT_ARRAY,
    ML_SORT_IMPORTED,
    ML_SORT_HANDLE,
    ML_SORT_MAPPING,
    ML_SORT_OLDER, /* never in the table: older than the recording, and being freed */
};

struct ml_cuda_block {
    uint64_t addr;
    uint64_t size;
    uint64_t context; /* that it is freed with, 0: none; for virtual memory: see cuda_virtual.c */
    uint32_t stack;
    uint8_t sort;        /* enum ml_cuda_sort */
    uint8_t device;      /* as in NVML */
    uint16_t references; /* of a handle: how many the program holds */
    uint16_t mappings;   /* of a handle */
    uint64_t brought;    /* of managed memory: bytes that a call brought to `device` */
};

/* Bytes that the driver took for itself, or for a pool. They have no address that a program knows;
 * the book assigns one. */
struct ml_cuda_item {
    uint64_t addr;
    uint64_t size;
    uint64_t owner; /* context or pool, 0: none */
    uint32_t stack;
    uint32_t below; /* index + 1 of the entry before it on the same account */
};

struct ml_cuda_account {
    uint32_t top; /* index + 1 of its newest entry, 0: none */
    uint64_t bytes;
};

struct ml_cuda_charges {
    uint64_t booked;      /* everything in the book for this device */
    int64_t residual;     /* NVML's figure less all books' at the last look */
    int64_t own_residual; /* NVML's figure for this process less this book's, at its last listing */
    uint32_t calls;       /* under way on this device */
    uint32_t unsettled;   /* calls that changed the figure since the last look, beside others */
    bool has_turn;        /* while there are any calls; see cuda_turns.h */
    bool looked;
    bool changed;        /* and no sample shows it yet */
    bool before_has_all; /* memory from before the recording is that of all processes */
    struct ml_cuda_account accounts[ML_CUDA_SPACES];
};

struct ml_cuda_pool {
    uint64_t pool;
    uint64_t reserved;
    uint8_t device;
    bool ended; /* destroyed; its last blocks may still be live */
};

enum ml_book_start { ML_BOOK_NOT_STARTED, ML_BOOK_STARTING, ML_BOOK_STARTED };

#define ML_CUDA_GONE_MAX 1024

struct ml_cuda_state {
    struct ml_lock lock;
    _Atomic uint32_t start;    /* enum ml_book_start */
    unsigned devices;          /* that NVML knows */
    _Atomic uint32_t underway; /* calls that may change the memory of a device */
    /* Count up with each call that begins or ends, and with each change of virtual memory. Answers
     * of the driver that were asked for before are out of date; see ml_cuda_count. */
    _Atomic uint32_t calls, virtual_changes;
    uint64_t waited_ns; /* for turns, in total */
    uint32_t blocks_used;
    uint32_t managed_blocks;
    uint32_t items_used; /* items ever taken from the end of `items` */
    uint32_t free_item;  /* index + 1, chained by `below` */
    uint64_t next_addr;
    uint32_t pools_used;
    struct ml_cuda_pool pools[ML_CUDA_POOLS_MAX];
    uint64_t refused_pool; /* the last one without room in the table */
    uint64_t graph_reserved[ML_CUDA_DEVICES_MAX];
    uint64_t primary[ML_CUDA_DEVICES_MAX]; /* contexts */
    struct ml_cuda_charges charges[ML_CUDA_DEVICES_MAX];
    uint32_t gone_count;
    uint64_t gone[ML_CUDA_GONE_MAX]; /* freed while older blocks are entered; see cuda_older.c */
    struct ml_cuda_block blocks[ML_CUDA_BLOCK_SLOTS];
    struct ml_cuda_item items[ML_CUDA_ITEMS_MAX];
};

/* For those that ask the driver without the lock: if `count` is the same when they have the lock,
 * what it said is still true. Pairs with ml_cuda_count_up. */
static inline uint32_t ml_cuda_count(const _Atomic uint32_t *count)
{
    return atomic_load_explicit(count, memory_order_acquire);
}

static inline void ml_cuda_count_up(_Atomic uint32_t *count)
{
    atomic_fetch_add_explicit(count, 1, memory_order_release);
}

static inline bool ml_cuda_is_started(const struct ml_cuda_state *book)
{
    return atomic_load_explicit(&book->start, memory_order_acquire) == ML_BOOK_STARTED;
}

#endif
