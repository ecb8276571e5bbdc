/* arena.c: see arena.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arena.h"

#include <stdlib.h>
#include <string.h>

#include "compiler.h"

#define CHUNK_FIRST_BYTES ((size_t)4096)
#define CHUNK_MOST_BYTES ((size_t)1 << 20)

struct ml_arena_chunk {
    struct ml_arena_chunk *next;
    _Alignas(max_align_t) uint8_t bytes[];
};

void ml_arena_init(struct ml_arena *arena)
{
    *arena = (struct ml_arena){0};
}

void ml_arena_release(struct ml_arena *arena)
{
    struct ml_arena_chunk *chunk = arena->chunks;

    while (chunk) {
        struct ml_arena_chunk *next = chunk->next;

        free(chunk);
        chunk = next;
    }
    ml_arena_init(arena);
}

static struct ml_arena_chunk *new_chunk(size_t bytes)
{
    if (bytes > PTRDIFF_MAX - sizeof(struct ml_arena_chunk))
        return NULL;
    return malloc(sizeof(struct ml_arena_chunk) + bytes);
}

/* A chunk for one object, inserted after the chunk being filled, which stays in use. */
static void *alloc_alone(struct ml_arena *arena, size_t bytes)
{
    struct ml_arena_chunk *chunk = new_chunk(bytes);

    if (!chunk)
        return NULL;
    if (arena->chunks) {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    } else {
        chunk->next = NULL;
        arena->chunks = chunk; /* full: at and end stay NULL */
    }
    return chunk->bytes;
}

/* Start a new chunk, twice the last one, with the object at its beginning. */
static ML_NOINLINE void *alloc_slow(struct ml_arena *arena, size_t bytes)
{
    size_t chunk_bytes = arena->chunk_bytes ? arena->chunk_bytes * 2 : CHUNK_FIRST_BYTES;
    struct ml_arena_chunk *chunk;

    chunk_bytes = (size_t)ml_min_u64(chunk_bytes, CHUNK_MOST_BYTES);
    if (bytes > chunk_bytes / 4)
        return alloc_alone(arena, bytes);
    chunk = new_chunk(chunk_bytes);
    if (!chunk)
        return NULL;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->chunk_bytes = chunk_bytes;
    arena->at = chunk->bytes + bytes;
    arena->end = chunk->bytes + chunk_bytes;
    return chunk->bytes;
}

/* Leaves `skip` bytes unused before the object when it fits. */
static void *alloc_behind(struct ml_arena *arena, size_t skip, size_t bytes)
{
    size_t space = arena->at ? (size_t)(arena->end - arena->at) : 0;
    uint8_t *object;

    if (!arena->at || skip > space || bytes > space - skip)
        return alloc_slow(arena, bytes);
    object = arena->at + skip;
    arena->at = object + bytes;
    return object;
}

void *ml_arena_alloc(struct ml_arena *arena, size_t bytes)
{
    size_t skip = (0 - (uintptr_t)arena->at) % _Alignof(max_align_t);

    return alloc_behind(arena, skip, bytes);
}

char *ml_arena_dup(struct ml_arena *arena, const void *bytes, size_t len)
{
    char *copy;

    if (len == SIZE_MAX)
        return NULL;
    copy = alloc_behind(arena, 0, len + 1);
    if (!copy)
        return NULL;
    if (len > 0)
        memcpy(copy, bytes, len);
    copy[len] = '\0';
    return copy;
}
