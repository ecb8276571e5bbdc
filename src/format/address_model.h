/* address_model.h: guess the address of the next event from those before it in its block.
 *
 * An allocator hands out addresses that it has seen: the block of that size that was freed last,
 * the place behind a block that it has just cut off, the start of a block that was freed. A free
 * names a block that was allocated a while ago. The model keeps these addresses in lists, so that
 * an events block can refer to them by small numbers; docs/trace-format.md defines these. Writer
 * and reader feed it the same events and so have the same lists.
 *
 * Nothing is allocated: the struct has 1.6 MiB, of which a short block uses little.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ADDRESS_MODEL_H
#define ML_ADDRESS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "block.h"
#include "event.h"

#define ML_MODEL_BINS 1024
#define ML_BIN_PLACES 8
#define ML_MODEL_ENDS 64
#define ML_MODEL_SIZES 4096

/* References of allocations. */
enum {
    ML_REF_EXPLICIT = 0, /* the address is in the column of addresses; the same for frees */
    ML_REF_BIN = 1,      /* … up to 8: a place of the bin, the block freed last first */
    ML_REF_NEXT = 9,     /* behind the last block of the thread that is not from a bin */
    ML_REF_FIRST = 10,   /* + 2 × n: where the n-th last free was */
                         /* + 2 × n + 1: the end of the n-th last allocation */
};

/* Whether an event of this kind leaves its address to later blocks. */
static inline bool ml_frees_block(uint8_t kind)
{
    return kind == ML_FREE || kind == ML_MOVE;
}

struct ml_model_block {
    uint64_t addr;
    uint64_t room_bytes;
};

struct ml_address_model {
    uint32_t allocs;
    uint32_t frees;
    uint64_t next[ML_MODEL_ENDS];
    uint64_t bins[ML_MODEL_BINS][ML_BIN_PLACES]; /* freed addresses, the last one first */
    uint64_t last_sizes[ML_MODEL_SIZES];         /* by stack */
    struct ml_model_block blocks[ML_BLOCK_MAX_EVENTS];
    uint64_t freed[ML_BLOCK_MAX_EVENTS];
};

static inline void ml_address_model_reset(struct ml_address_model *m)
{
    memset(m, 0, offsetof(struct ml_address_model, blocks));
}

/* The bytes that a block takes from glibc's malloc: 8 for its header, in units of 16. Other
 * allocators round in other ways; the guesses are then wrong more often. */
static inline uint64_t ml_room_bytes(uint64_t size)
{
    uint64_t room = (size + 23) & ~UINT64_C(15);

    return room < 32 ? 32 : room;
}

static inline uint64_t *ml_model_bin(struct ml_address_model *m, uint32_t thread,
                                     uint64_t room_bytes)
{
    return m->bins[(room_bytes / 16 + 97 * (uint64_t)thread) % ML_MODEL_BINS];
}

/* The size of the last block with a stack like this one, to be replaced by the size of this. */
static inline uint64_t *ml_model_last_size(struct ml_address_model *m, uint32_t stack)
{
    return &m->last_sizes[stack % ML_MODEL_SIZES];
}

/* The address that an allocation refers to.
 * @return false if there is none: the block is damaged */
static inline bool ml_model_alloc_addr(struct ml_address_model *m, uint32_t ref, uint32_t thread,
                                       uint64_t room_bytes, uint64_t *ret)
{
    uint32_t back = (ref - ML_REF_FIRST) / 2;

    if (ref < ML_REF_NEXT) {
        *ret = ml_model_bin(m, thread, room_bytes)[ref - ML_REF_BIN];
        return true;
    }
    if (ref == ML_REF_NEXT) {
        *ret = m->next[thread % ML_MODEL_ENDS];
        return true;
    }
    if (ref % 2 == 0) {
        *ret = back < m->frees ? m->freed[m->frees - 1 - back] : 0;
        return back < m->frees;
    }
    if (back >= m->allocs)
        return false;
    *ret = m->blocks[m->allocs - 1 - back].addr + m->blocks[m->allocs - 1 - back].room_bytes;
    return true;
}

/* Adds an allocation. Precondition: fewer than ML_BLOCK_MAX_EVENTS were added. */
static inline void ml_model_add_alloc(struct ml_address_model *m, uint32_t ref, uint32_t thread,
                                      uint64_t room_bytes, uint64_t addr)
{
    if (ref - ML_REF_BIN < ML_BIN_PLACES) {
        uint64_t *bin = ml_model_bin(m, thread, room_bytes);

        for (uint32_t i = ref - ML_REF_BIN; i + 1 < ML_BIN_PLACES; i++)
            bin[i] = bin[i + 1];
        bin[ML_BIN_PLACES - 1] = 0;
    } else {
        m->next[thread % ML_MODEL_ENDS] = addr + room_bytes;
    }
    m->blocks[m->allocs++] = (struct ml_model_block){addr, room_bytes};
}

/* Adds a free, or a move, which frees the block for now. Precondition: as above.
 * @room_bytes: of the allocation that the free refers to; 0: it refers to none */
static inline void ml_model_add_free(struct ml_address_model *m, uint32_t thread, uint64_t addr,
                                     uint64_t room_bytes)
{
    m->freed[m->frees++] = addr;
    if (room_bytes) {
        uint64_t *bin = ml_model_bin(m, thread, room_bytes);

        for (uint32_t i = ML_BIN_PLACES - 1; i > 0; i--)
            bin[i] = bin[i - 1];
        bin[0] = addr;
    }
}

#endif
