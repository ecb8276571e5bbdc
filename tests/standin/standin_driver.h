/* standin_driver.h: what the families of driver calls share inside libcuda.so.1.
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

/* ---- Contexts --------------------------------------------------------------- */

#define STANDIN_LIMITS 16

struct standin_context {
    struct standin_context *next;
    int ordinal;
    bool primary;
    unsigned references; /* of a primary context */
    unsigned flags;
    uint64_t taken_bytes; /* the context's own, stacks included */
    uint64_t module_bytes;
    uint64_t limits[STANDIN_LIMITS];
};

/* The primary context of a device if it is active, else NULL. */
struct standin_context *standin_primary(int ordinal);

/* ---- Blocks: everything that has an address on a device ---------------------- */

enum standin_kind {
    STANDIN_DEVICE,     /* cuMemAlloc */
    STANDIN_MANAGED,    /* cuMemAllocManaged */
    STANDIN_HOST,       /* cuMemHostAlloc */
    STANDIN_REGISTERED, /* cuMemHostRegister */
    STANDIN_POOLED,     /* cuMemAllocAsync */
    STANDIN_GRAPH,      /* a graph's memory node */
    STANDIN_RANGE,      /* cuMemAddressReserve */
    STANDIN_MAPPED,     /* cuMemMap */
    STANDIN_IMPORTED,   /* cuIpcOpenMemHandle */
};

struct standin_block {
    enum standin_kind kind;
    standin_address address;
    uint64_t bytes;                  /* asked for */
    uint64_t mapped_bytes;           /* to give to munmap; 0: not mapped for itself */
    uint64_t taken_bytes;            /* charged for it alone */
    int ordinal;                     /* of the device */
    struct standin_context *context; /* whose end is the block's end; NULL: none */
    void *owner;                     /* chunk, pool or allocation it is part of */
};

/* Host memory that stands for a device's; not touched until used.
 * @return the address, 0 when there is none */
standin_address standin_map(uint64_t bytes);
void standin_unmap(standin_address address, uint64_t bytes);

/* Enter a block that was filled in; takes a copy.
 * @return the copy, NULL when memory is short */
struct standin_block *standin_block_add(const struct standin_block *block);
struct standin_block *standin_block_at(standin_address address);
/* The block that an address lies in; reserved ranges only when nothing else does. */
struct standin_block *standin_block_around(standin_address address);
/* Gives back the block's charge and memory, and forgets it. */
void standin_block_end(struct standin_block *block);
/* Ends all blocks of a context. */
void standin_blocks_end(struct standin_context *context);

/* ---- Device memory: cuMemAlloc ---------------------------------------------- */

int standin_memory_alloc(struct standin_context *context, uint64_t bytes,
                         standin_address *ret_address);
/* A block of kind STANDIN_DEVICE: back into its chunk. */
void standin_memory_end(struct standin_block *block);

#endif
