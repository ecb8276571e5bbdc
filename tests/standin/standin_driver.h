/* standin_driver.h: shared by the families of driver calls inside libcuda.so.1.
 *
 * One lock for everything. An entry point takes it with standin_lock_*(), which
 * also says whether the caller may come in, and leaves through standin_unlock():
 *
 *     int status = standin_lock_context(&context);
 *     if (status)
 *         return status;
 *     ...
 *     return standin_unlock(status);
 *
 * Functions named standin_* below expect the lock to be held.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STANDIN_DRIVER_H
#define STANDIN_DRIVER_H

#include "standin_state.h"
#include "standin_types.h"

#include <stdbool.h>

/* An exported function; it returns a result of the driver. */
#define STANDIN_ENTRY(name, ...)                                                                   \
    __attribute__((visibility("default"))) int name(__VA_ARGS__);                                  \
    int name(__VA_ARGS__)

#define STANDIN_PAGE_BYTES (2 * STANDIN_MIB)

/* Of an H200: each thread that can run at once has a stack of its own. */
#define STANDIN_PROCESSORS 132
#define STANDIN_THREADS 2048

/* ---- Devices, by CUDA's ordinal -------------------------------------------- */

/* Devices that CUDA_VISIBLE_DEVICES leaves, in its order. */
int standin_visible_count(void);

/* NVML's number of a CUDA ordinal; -1 if there is none. */
int standin_nvml_number(int ordinal);

/* Take memory of a device (CUDA's ordinal), or say CUDA_ERROR_OUT_OF_MEMORY. */
int standin_take(int ordinal, uint64_t bytes);
void standin_give(int ordinal, uint64_t bytes);

uint64_t standin_round_up(uint64_t bytes, uint64_t step);

/* ---- Coming in and going out ----------------------------------------------- */

struct standin_context;

/* After cuInit, in the same process. */
int standin_lock(void);
/* With a device that exists. */
int standin_lock_device(int ordinal);
/* With a current context. */
int standin_lock_context(struct standin_context **ret_context);
int standin_unlock(int status);
/* The same for a call that waits behind other work of a busy driver: see STANDIN_BUSY in
 * docs/testing.md. */
int standin_unlock_late(int status);

/* ---- Contexts --------------------------------------------------------------- */

#define STANDIN_LIMITS 16

struct standin_context {
    struct standin_context *next;
    int ordinal;
    bool primary;
    unsigned references; /* of a primary context */
    unsigned flags;
    uint64_t taken_bytes; /* beyond the context itself: stacks, code */
    uint64_t limits[STANDIN_LIMITS];
};

/* ---- Blocks: everything that has an address on a device ---------------------- */

enum standin_kind {
    STANDIN_DEVICE,     /* cuMemAlloc; the owner, if any, is a chunk */
    STANDIN_MANAGED,    /* cuMemAllocManaged */
    STANDIN_HOST,       /* cuMemHostAlloc */
    STANDIN_REGISTERED, /* cuMemHostRegister */
    STANDIN_POOLED,     /* cuMemAllocAsync; the owner is a pool */
    STANDIN_GRAPH,      /* a graph's memory node, once launched */
    STANDIN_MAPPED,     /* cuMemMap; the owner is an allocation */
    STANDIN_ARRAY,      /* cuArrayCreate */
    STANDIN_IPC,        /* cuIpcOpenMemHandle */
    STANDIN_IMPORTED,   /* another process's, to be freed like one's own */
};

struct standin_block {
    enum standin_kind kind;
    standin_address address;
    uint64_t bytes;                  /* asked for */
    uint64_t mapped_bytes;           /* to give to munmap; 0: not mapped for itself */
    uint64_t taken_bytes;            /* charged for it alone */
    int ordinal;                     /* of the device */
    struct standin_context *context; /* whose end is the block's end; NULL: none */
    void *owner;
};

/* Host memory that stands for a device's; costs nothing until it is written.
 * @return the address, 0 when there is none */
standin_address standin_map(uint64_t bytes);
void standin_unmap(standin_address address, uint64_t bytes);

/* Enter a block that was filled in; takes a copy. */
void standin_block_add(const struct standin_block *block);
struct standin_block *standin_block_at(standin_address address);
/* The block that contains an address. */
struct standin_block *standin_block_around(standin_address address);
/* Frees the block's charge and memory, and forgets it. */
void standin_block_end(struct standin_block *block);
/* Ends all blocks of a context. */
void standin_blocks_end(struct standin_context *context);

/* Whether cuMemFree takes it; NULL is not taken. */
bool standin_can_be_freed(const struct standin_block *block);

/* A block with its own pages, charged to the context's device at once. */
int standin_pages_alloc(struct standin_context *context, enum standin_kind kind, uint64_t bytes,
                        standin_address *ret_address);

/* ---- What a block's end means to its family ---------------------------------- */

void standin_memory_end(struct standin_block *block); /* STANDIN_DEVICE */
void standin_pooled_end(struct standin_block *block); /* STANDIN_POOLED */
void standin_graph_end(struct standin_block *block);  /* STANDIN_GRAPH */
void standin_mapped_end(struct standin_block *block); /* STANDIN_MAPPED */

/* ---- What else happens in other families --------------------------------------- */

/* Pools and graphs of a device keep what they have reserved until they are
 * synchronised or trimmed, or the context goes. */
void standin_pools_synchronize(int ordinal);
void standin_pools_context_end(int ordinal);
void standin_graphs_context_end(int ordinal);

/* Code in a context costs memory from its first launch on. */
struct standin_function;
int standin_function_load(struct standin_function *function, struct standin_context *context);
void standin_code_context_end(struct standin_context *context);

/* A device is going to write to the block: managed memory moves there. */
int standin_managed_touch(struct standin_block *block, int ordinal);

/* Streams; 0, 1 and 2 are default streams, which capture nothing. */
struct standin_graph;
struct standin_stream;
struct standin_graph *standin_stream_capture(struct standin_stream *stream);

/* For a call that breaks captures under way, unless its thread said that it may. */
int standin_unsafe_call(void);

/* An empty graph. The caller owns it. */
struct standin_graph *standin_graph_new(void);

/* An allocation, or with bytes 0 a free, as a node of a graph. */
int standin_graph_add_memory(struct standin_graph *graph, int ordinal, uint64_t bytes,
                             standin_address *address);

#endif
