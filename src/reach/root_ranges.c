/* root_ranges.c: see root_ranges.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "root_ranges.h"

/* glibc's heaps of threads other than the first: their size and alignment, and the distance from
 * the begin of one to the arena that it belongs to. */
#define ARENA_BYTES (UINT64_C(64) << 20)
#define ARENA_HEAD 256
/* glibc keeps a thread's descriptor at the top of its stack. Its first and third word are its own
 * address; the thread's id, 0 or -1 once the thread has ended, is at this offset. */
#define THREAD_ID_AT 720
#define RED_ZONE 128 /* below the stack pointer */
#define WINDOW_BYTES 65536

struct finder {
    const struct ml_session_copy *copy;
    pid_t pid;
    bool knows_threads; /* the descriptor of a live thread is as expected */
    ml_peer_maps maps;
};

static uint64_t word_at(const struct finder *f, uint64_t address)
{
    uint64_t word = 0;

    return ml_peer_read(f->pid, address, &word, sizeof(word)) == sizeof(word) ? word : 0;
}

static uint32_t thread_id_of(const struct finder *f, uint64_t descriptor)
{
    return (uint32_t)word_at(f, descriptor + THREAD_ID_AT);
}

/* Its first word is the arena, which is at the begin of this heap or of another. */
static bool is_arena(const struct finder *f, const struct ml_peer_map *map)
{
    uint64_t arena = map->begin % ARENA_BYTES == 0 ? word_at(f, map->begin) : 0;

    return arena && arena % ARENA_BYTES > 0 && arena % ARENA_BYTES < ARENA_HEAD &&
           arena == word_at(f, arena - arena % ARENA_BYTES);
}

/* ---- Stacks of threads --------------------------------------------------- */

/* The place of a descriptor in a part of memory; 0: none. */
static uint64_t descriptor_in(const uint64_t *words, uint64_t begin, size_t count)
{
    for (size_t i = 0; i + 2 < count; i += 8) {
        uint64_t address = begin + i * sizeof(*words);

        if (words[i] == address && words[i + 2] == address)
            return address;
    }
    return 0;
}

static uint64_t find_descriptor(const struct finder *f, const struct ml_peer_map *map)
{
    static uint64_t words[WINDOW_BYTES / sizeof(uint64_t)];

    for (uint64_t at = map->begin; at < map->end; at += WINDOW_BYTES) {
        size_t bytes = ml_peer_read(f->pid, at, words, ml_min_u64(WINDOW_BYTES, map->end - at));
        uint64_t found = descriptor_in(words, at, bytes / sizeof(*words));

        if (found)
            return found;
    }
    return 0;
}

/* libc keeps the stack of a thread that has ended for the next one, with old pointers in it.
 * @return where it ends, at the descriptor, which libc uses again; the begin of the mapping if it
 * is not such a stack */
static uint64_t end_of_old_stack(const struct finder *f, size_t number)
{
    const struct ml_peer_map *map = &f->maps.items[number];
    const struct ml_peer_map *guard = number ? map - 1 : NULL;
    uint64_t descriptor;

    if (!f->knows_threads || !map->anonymous || !guard || !guard->reserved ||
        guard->end != map->begin)
        return map->begin;
    descriptor = find_descriptor(f, map);
    if (!descriptor || (int32_t)thread_id_of(f, descriptor) > 0)
        return map->begin;
    return descriptor;
}

/* ---- Mappings ------------------------------------------------------------ */

static int add_mapping(const struct finder *f, size_t number, ml_root_ranges *ret)
{
    const struct ml_peer_map *map = &f->maps.items[number];
    struct ml_root_range range = {map->begin, map->end, map->anonymous};
    uint64_t stack = f->copy->stack - RED_ZONE;

    if (!map->writable || map->shared || map->heap || map->recorder)
        return 0;
    if (stack >= map->begin && stack < map->end)
        range.begin = stack & ~UINT64_C(7);
    else if (map->anonymous && is_arena(f, map))
        range.begin = ml_min_u64(map->end, map->begin + ARENA_BYTES);
    else
        range.begin = end_of_old_stack(f, number);
    return range.begin < range.end ? ml_vec_push(ret, range) : 0;
}

int ml_root_ranges_find(const struct ml_session_copy *copy, pid_t pid, ml_root_ranges *ret)
{
    struct finder f = {.copy = copy, .pid = pid};
    int r = ml_peer_maps_read(pid, &f.maps);

    f.knows_threads = copy->thread && thread_id_of(&f, copy->thread_area) == copy->thread;
    for (size_t i = 0; r == 0 && i < f.maps.len; i++)
        r = add_mapping(&f, i, ret);
    ml_vec_release(&f.maps);
    return r;
}
