/* arena.h: allocate many small things, free them all at once.
 *
 * A bump allocator over a list of chunks: pointers stay valid until the arena
 * is released, single objects cannot be freed. Not thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_ARENA_H
#define ML_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct ml_arena_chunk;

struct ml_arena {
    struct ml_arena_chunk *chunks; /* all of them, the one being filled first */
    uint8_t *at, *end;             /* free bytes of the first chunk */
    size_t chunk_bytes;            /* size of the last ordinary chunk */
};

/* An empty arena; allocates nothing. All zero bytes is a valid one too. */
void ml_arena_init(struct ml_arena *arena);

/* Frees everything and leaves an empty arena that can be used again. */
void ml_arena_release(struct ml_arena *arena);

/* Uninitialised memory, aligned for any type. bytes may be 0.
 * @return owned by the arena; NULL when out of memory */
void *ml_arena_alloc(struct ml_arena *arena, size_t bytes);

/* A copy of `len` bytes with a NUL after them, not aligned. `bytes` may be NULL when len is 0.
 * @return owned by the arena; NULL when out of memory */
char *ml_arena_dup(struct ml_arena *arena, const void *bytes, size_t len);

#endif
