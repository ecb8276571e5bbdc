/* pointer_search.c: see pointer_search.h.
 *
 * First everything that the roots lead to is reachable. Of the rest, each block is taken for
 * definitely lost until another lost one leads to it; of blocks in a circle, the first one stays.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pointer_search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES 4096u
#define CHUNK_BYTES (1u << 20)
#define PAGE_IS_THERE (UINT64_C(3) << 62) /* in memory, or swapped out */

struct work {
    struct ml_pointer_search *search;
    struct ml_block_finder *blocks;
    ML_VEC(uint32_t) reached; /* blocks whose contents are still to be searched */
    uint64_t *words;          /* CHUNK_BYTES */
    int pages;                /* /proc/PID/pagemap; -1: cannot be read */
    enum ml_reach as;         /* what the blocks that are found become */
    size_t from;              /* the lost block that the search began with */
};

static bool is_late(const struct work *w)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec > w->search->deadline_ns;
}

/* ---- Words --------------------------------------------------------------- */

static int reach_block(struct work *w, size_t number)
{
    struct ml_reach_block *block = &w->blocks->blocks.items[number];
    bool is_new = block->reach == ML_REACH_UNKNOWN;

    if (w->as == ML_REACH_REACHABLE && !is_new)
        return 0;
    if (w->as == ML_REACH_INDIRECT) {
        if (number == w->from || block->reach >= ML_REACH_INDIRECT)
            return 0;
        /* Found to be lost before: its contents have been searched. */
        if (!is_new) {
            block->reach = ML_REACH_INDIRECT;
            return 0;
        }
    }
    block->reach = (uint8_t)w->as;
    return ml_vec_push(&w->reached, (uint32_t)number);
}

static int search_words(struct work *w, size_t count)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        int64_t found = ml_block_finder_at(w->blocks, w->words[i]);

        if (found >= 0)
            r = reach_block(w, (size_t)found);
    }
    return r;
}

/* A page that cannot be read is left out. */
static int search_range(struct work *w, uint64_t begin, uint64_t end)
{
    int r = 0;

    begin = (begin + 7) & ~UINT64_C(7);
    while (r == 0 && begin + 8 <= end) {
        size_t bytes =
            ml_peer_read(w->search->pid, begin, w->words, ml_min_u64(CHUNK_BYTES, end - begin));

        r = search_words(w, bytes / 8);
        begin = bytes >= 8 ? begin + bytes / 8 * 8 : (begin / PAGE_BYTES + 1) * PAGE_BYTES;
        if (r == 0 && is_late(w))
            r = -ETIME;
    }
    return r;
}

/* ---- Blocks -------------------------------------------------------------- */

/* Until no more blocks are found. */
static int follow(struct work *w)
{
    int r = 0;

    while (r == 0 && w->reached.len > 0) {
        uint32_t number = w->reached.items[--w->reached.len];
        const struct ml_reach_block *block = &w->blocks->blocks.items[number];

        r = search_range(w, block->begin, block->end);
    }
    return r;
}

static int judge_lost(struct work *w)
{
    int r = 0;

    w->as = ML_REACH_INDIRECT;
    for (size_t i = 0; r == 0 && i < w->blocks->blocks.len; i++) {
        struct ml_reach_block *block = &w->blocks->blocks.items[i];

        if (block->reach != ML_REACH_UNKNOWN)
            continue;
        block->reach = ML_REACH_DEFINITE;
        w->from = i;
        r = search_range(w, block->begin, block->end);
        if (r == 0)
            r = follow(w);
    }
    return r;
}

/* ---- Roots --------------------------------------------------------------- */

/* Whether a chunk of memory that no file backs was ever used. */
static bool is_used(const struct work *w, uint64_t begin, uint64_t end)
{
    uint64_t entries[CHUNK_BYTES / PAGE_BYTES + 1];
    uint64_t first = begin / PAGE_BYTES, count = (end - 1) / PAGE_BYTES - first + 1;
    ssize_t n =
        pread(w->pages, entries, count * sizeof(*entries), (off_t)(first * sizeof(*entries)));

    if (n != (ssize_t)(count * sizeof(*entries)))
        return true;
    for (uint64_t i = 0; i < count; i++)
        if (entries[i] & PAGE_IS_THERE)
            return true;
    return false;
}

static int search_gap(struct work *w, const struct ml_root_range *root, uint64_t begin,
                      uint64_t end)
{
    int r = 0;

    while (r == 0 && begin < end) {
        uint64_t next = ml_min_u64(end, begin + CHUNK_BYTES);

        if (!root->anonymous || w->pages < 0 || is_used(w, begin, next)) {
            r = search_range(w, begin, next);
            w->search->searched_bytes += next - begin;
        }
        begin = next;
    }
    return r;
}

/* The root without the blocks in it, such as large ones that malloc maps. */
static int search_root(struct work *w, const struct ml_root_range *root)
{
    uint64_t begin = root->begin;
    size_t i = ml_block_finder_after(w->blocks, begin);
    int r = 0;

    for (; r == 0 && i < w->blocks->blocks.len && begin < root->end; i++) {
        const struct ml_reach_block *block = &w->blocks->blocks.items[i];

        if (block->begin >= root->end)
            break;
        if (block->begin > begin)
            r = search_gap(w, root, begin, block->begin);
        begin = ml_max_u64(begin, block->end);
    }
    return r == 0 && begin < root->end ? search_gap(w, root, begin, root->end) : r;
}

int ml_pointer_search(struct ml_pointer_search *search, const ml_root_ranges *roots,
                      struct ml_block_finder *blocks)
{
    struct work w = {.search = search, .blocks = blocks, .as = ML_REACH_REACHABLE};
    char path[64];
    int r = 0;

    snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)search->pid);
    w.pages = open(path, O_RDONLY | O_CLOEXEC);
    w.words = malloc(CHUNK_BYTES);
    if (!w.words)
        r = -ENOMEM;
    for (size_t i = 0; r == 0 && i < roots->len; i++) {
        r = search_root(&w, &roots->items[i]);
        if (r == 0)
            r = follow(&w);
    }
    if (r == 0)
        r = judge_lost(&w);
    if (w.pages >= 0)
        close(w.pages);
    free(w.words);
    ml_vec_release(&w.reached);
    return r;
}
