/* net_contents.c: see net_contents.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net_contents.h"

#include <string.h>

#include "address_model.h"
#include "encoder_walk.h"
#include "memledger/memledger.h"

static void set_bit(struct ml_net_bits *bits, uint32_t i)
{
    bits->words[i / 64] |= UINT64_C(1) << i % 64;
}

/* ---- Kinds ----------------------------------------------------------------------- */

enum {
    NAMES_BLOCKS = 1, /* other than by allocating and freeing them */
    FREES_RANGES = 2,
    ENDS_PROCESSES = 4,
};

static const uint8_t contents_of_kind[ML_KIND_MASK + 1] = {
    [ML_FREE_RANGE] = FREES_RANGES, [ML_ALLOC_EX] = NAMES_BLOCKS,
    [ML_MOVE] = NAMES_BLOCKS,       [ML_MOVE_FAILED] = NAMES_BLOCKS,
    [ML_LABEL] = NAMES_BLOCKS,      [ML_PROCESS_END] = ENDS_PROCESSES,
};

static unsigned contents_of(const struct ml_encoder *e)
{
    unsigned contents = 0;

    for (uint32_t i = 0; i < e->events; i++)
        contents |= contents_of_kind[e->kinds[i] & ML_KIND_MASK];
    return contents;
}

uint32_t ml_net_busiest_space(const struct ml_encoder *e)
{
    uint32_t space = 0, found = 0, votes = 0, changes = 0;

    for (uint32_t i = 0; i < e->events; i++) {
        uint8_t kind = e->kinds[i];

        if (kind & ML_SPACE_CHANGED)
            space = e->space_col[changes++];
        if ((kind & ML_KIND_MASK) != ML_ALLOC)
            continue;
        if (votes == 0)
            found = space;
        votes += found == space ? 1 : UINT32_MAX;
    }
    return found;
}

static bool frees_ranges_of(const struct ml_encoder *e, uint32_t space)
{
    struct ml_encoder_walk w;

    ml_encoder_walk_begin(&w, e);
    while (ml_encoder_walk_next(&w))
        if (w.event.kind == ML_FREE_RANGE && w.event.space == space)
            return true;
    return false;
}

bool ml_net_fits(const struct ml_encoder *e, uint32_t space)
{
    unsigned contents = contents_of(e);

    if (contents & ENDS_PROCESSES || (contents & FREES_RANGES && frees_ranges_of(e, space)))
        return false;
    for (uint32_t i = 0; i < e->wide_sizes; i++)
        if (e->wide_size_col[i] > ML_BYTES_MAX)
            return false;
    return true;
}

/* ---- Allocations ------------------------------------------------------------------- */

void ml_net_find_named(const struct ml_encoder *e, struct ml_net_bits *ret)
{
    uint32_t allocs = 0, refs = 0;

    memset(ret, 0, sizeof(*ret));
    if (!(contents_of(e) & NAMES_BLOCKS))
        return;
    for (uint32_t i = 0; i < e->events; i++) {
        uint8_t kind = e->kinds[i] & ML_KIND_MASK;
        uint32_t ref, bits = ml_shapes[kind].bits;

        if (!(bits & ML_HAS_ADDR))
            continue;
        if (bits & ML_HAS_STACK) {
            allocs++;
            continue;
        }
        ref = e->packed.free_ref_col[refs++];
        if (kind != ML_FREE && ref != ML_REF_EXPLICIT)
            set_bit(ret, allocs - ref);
    }
}

#define PHASES_MAX 16

/* The marks of phases so far. Positions are those in the order of allocations. */
struct passes {
    uint32_t phases[PHASES_MAX]; /* strings */
    uint32_t last[PHASES_MAX];
    uint32_t count;
    uint32_t since; /* blocks allocated before this have seen two marks of some phase */
};

static void mark_phase(struct passes *p, uint32_t phase, uint32_t position)
{
    uint32_t i = 0;

    while (i < p->count && p->phases[i] != phase)
        i++;
    if (i == PHASES_MAX) {
        p->since = position;
        return;
    }
    if (i == p->count)
        p->phases[p->count++] = phase;
    else if (p->last[i] > p->since)
        p->since = p->last[i];
    p->last[i] = position;
}

void ml_net_find_pairs(const struct ml_encoder *e, uint32_t space, struct ml_net_bits *ret)
{
    struct ml_net_bits ours = {0};
    struct passes passes = {0};
    struct ml_encoder_walk w;
    uint32_t refs = 0;

    memset(ret, 0, sizeof(*ret));
    ml_encoder_walk_begin(&w, e);
    while (ml_encoder_walk_next(&w)) {
        uint32_t bits = ml_shapes[w.event.kind].bits, ref, alloc;

        if (w.event.kind == ML_ALLOC && w.event.space == space)
            set_bit(&ours, w.allocs - 1);
        if (w.event.kind == ML_MARK && w.event.args[0] == MEMLEDGER_MARK_PHASE)
            mark_phase(&passes, (uint32_t)w.event.args[2], w.allocs);
        if (!(bits & ML_HAS_ADDR) || bits & ML_HAS_STACK)
            continue;
        ref = e->packed.free_ref_col[refs++];
        alloc = w.allocs - ref;
        if (w.event.kind == ML_FREE && w.event.space == space && ref != ML_REF_EXPLICIT &&
            alloc >= passes.since && ml_net_bit(&ours, alloc))
            set_bit(ret, alloc);
    }
}
