/* training_pool.c: see training_pool.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "training_pool.h"

#include <stdio.h>
#include <stdlib.h>

#define ROUND 512u
#define SEGMENT_BYTES (20u << 20)
#define MAX_SIZES 64
#define MAX_KEPT 512

/* Unused blocks of one size. */
struct shelf {
    size_t bytes;
    const void *kept[MAX_KEPT];
    size_t count;
};

static struct shelf shelves[MAX_SIZES];
static size_t shelf_count;
static uintptr_t next_address = 0x7f2000000000u, segment_end = 0x7f2000000000u;
static memledger_space segments, blocks;

void training_pool_open(void)
{
    segments = memledger_space_open("cuda:0", MEMLEDGER_POOL, "caching");
    blocks = memledger_space_open("cuda:0", MEMLEDGER_BLOCK, "caching");
}

static void out_of_room(void)
{
    fputs("bench_training: more sizes or blocks than the model has room for\n", stderr);
    exit(1);
}

static struct shelf *shelf_of(size_t bytes)
{
    for (size_t i = 0; i < shelf_count; i++)
        if (shelves[i].bytes == bytes)
            return &shelves[i];
    if (shelf_count == MAX_SIZES)
        out_of_room();
    shelves[shelf_count].bytes = bytes;
    return &shelves[shelf_count++];
}

/* Cut from the current segment, or from one that is made for it. */
static const void *cut(size_t bytes)
{
    size_t segment = bytes > SEGMENT_BYTES ? bytes : SEGMENT_BYTES;
    uintptr_t address;

    if (segment_end - next_address < bytes) {
        next_address = segment_end;
        memledger_alloc(segments, (const void *)next_address, segment);
        segment_end = next_address + segment;
    }
    address = next_address;
    next_address += bytes;
    return (const void *)address;
}

struct block training_alloc(size_t bytes)
{
    struct block block = {.bytes = (bytes + ROUND - 1) / ROUND * ROUND};
    struct shelf *shelf = shelf_of(block.bytes);

    block.address = shelf->count ? shelf->kept[--shelf->count] : cut(block.bytes);
    memledger_alloc(blocks, block.address, block.bytes);
    return block;
}

void training_free(struct block block)
{
    struct shelf *shelf = shelf_of(block.bytes);

    if (shelf->count == MAX_KEPT)
        out_of_room();
    memledger_free(blocks, block.address);
    shelf->kept[shelf->count++] = block.address;
}

void training_label(struct block block, const char *name, enum memledger_category category)
{
    memledger_label(blocks, block.address, name, category);
}
