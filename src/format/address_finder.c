/* address_finder.c: a table of the addresses in an events block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "address_finder.h"

#include "compiler.h"

#define PROBES 8

void ml_address_finder_reset(struct ml_address_finder *f)
{
    ml_address_model_reset(&f->model);
    if (++f->round == 0) { /* after four thousand million blocks the old rounds come again */
        memset(f->places, 0, sizeof(f->places));
        f->round = 1;
    }
}

/* The entry of an address, a new one if need be. If the places around it are taken, that of
 * another address is replaced. */
static struct ml_found_address *entry_of(struct ml_address_finder *f, uint64_t addr)
{
    uint32_t at = ml_finder_home(addr);
    struct ml_found_address *e = &f->places[at];

    for (int i = 0; i < PROBES; i++) {
        e = &f->places[(at + (uint32_t)i) % ML_FINDER_PLACES];
        if (e->round != f->round)
            break;
        if (e->addr == addr)
            return e;
    }
    *e = (struct ml_found_address){.addr = addr, .round = f->round};
    return e;
}

static uint32_t place_in_bin(const uint64_t *bin, uint64_t addr)
{
    uint32_t place = 0;

    while (place < ML_BIN_PLACES && bin[place] != addr)
        place++;
    return place;
}

static uint32_t alloc_reference(struct ml_address_finder *f, const struct ml_found_address *e,
                                uint32_t thread, uint64_t room_bytes)
{
    struct ml_address_model *m = &f->model;
    uint32_t place = place_in_bin(ml_model_bin(m, thread, room_bytes), e->addr);
    uint32_t after_free = e->freed ? 2 * (m->frees - (uint32_t)e->freed) : UINT32_MAX;
    uint32_t after_alloc = e->end ? 2 * (m->allocs - (uint32_t)e->end) + 1 : UINT32_MAX;
    uint32_t nearest = after_free < after_alloc ? after_free : after_alloc;

    if (place < ML_BIN_PLACES)
        return ML_REF_BIN + place;
    if (m->next[thread % ML_MODEL_ENDS] == e->addr)
        return ML_REF_NEXT;
    return nearest == UINT32_MAX ? ML_REF_EXPLICIT : ML_REF_FIRST + nearest;
}

uint32_t ml_find_alloc(struct ml_address_finder *f, uint32_t thread, uint64_t addr, uint64_t size)
{
    uint64_t room_bytes = ml_room_bytes(size);
    struct ml_found_address *e = entry_of(f, addr);
    uint32_t ref = alloc_reference(f, e, thread, room_bytes);

    ml_model_add_alloc(&f->model, ref, thread, room_bytes, addr);
    e->start = f->model.allocs;
    e->room_units = room_bytes / 16 <= UINT32_MAX ? (uint32_t)(room_bytes / 16) : 0;
    entry_of(f, addr + room_bytes)->end = f->model.allocs;
    return ref;
}

/* The model has it too, but elsewhere in memory. */
static uint64_t room_of(const struct ml_address_finder *f, const struct ml_found_address *e)
{
    if (!e->start)
        return 0;
    if (ML_LIKELY(e->room_units))
        return 16 * (uint64_t)e->room_units;
    return f->model.blocks[e->start - 1].room_bytes;
}

uint32_t ml_find_free(struct ml_address_finder *f, uint32_t thread, uint64_t addr, bool is_free)
{
    struct ml_found_address *e = entry_of(f, addr);
    uint32_t ref = e->start ? f->model.allocs - (uint32_t)e->start + 1 : ML_REF_EXPLICIT;

    if (is_free) {
        ml_model_add_free(&f->model, thread, addr, room_of(f, e));
        e->freed = f->model.frees;
    }
    return ref;
}
