/* encode.h: events into the columns of one events block.
 *
 * Add events in time order until ml_encoder_full() says so, then take the
 * block with ml_encoder_finish(), which leaves the encoder empty. No memory is
 * allocated: the struct is large (about 14 MiB, of which short blocks touch
 * little) and belongs on the heap, zeroed: take it from calloc.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ENCODE_H
#define ML_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"
#include "column_pack.h"
#include "compiler.h"
#include "event.h"
#include "varint.h"

/* The columns of layout 1; layout 0 lacks the last two. */
enum ml_event_column {
    ML_COL_KINDS,
    ML_COL_TIMES,
    ML_COL_ADDRS,
    ML_COL_SIZES,
    ML_COL_THREADS,
    ML_COL_SPACES,
    ML_COL_SCOPES,
    ML_COL_STACKS,
    ML_COL_ARGS,
    ML_COL_WIDE_TIMES,
    ML_COL_WIDE_ADDRS,
    ML_COL_WIDE_SIZES,
    ML_COL_ALLOC_REFS,
    ML_COL_FREE_REFS,
    ML_COLUMNS,
    ML_COLUMNS_OF_LAYOUT_0 = ML_COL_ALLOC_REFS,
};

/* Columns of 4 bytes an entry are stored as four planes, the lowest bytes first. */
extern const uint8_t ml_column_entry_bytes[ML_COLUMNS];

/* The counts, the shift of the addresses, and from layout 1 on the shift of the times. */
#define ML_COLUMN_HEADER_BYTES (4 * (ML_COLUMNS + 2))
#define ML_COLUMN_HEADER_BYTES_OF_LAYOUT_0 (4 * (ML_COLUMNS_OF_LAYOUT_0 + 1))
#define ML_KIND_MASK 0x1f
#define ML_THREAD_CHANGED 0x20
#define ML_SPACE_CHANGED 0x40
#define ML_SCOPE_CHANGED 0x80

#define ML_ARGS_MAX_BYTES (1u << 20)

/* The bytes that the largest block needs in ml_encoder_finish. */
#define ML_EVENTS_RAW_MAX                                                                          \
    (ML_COLUMN_HEADER_BYTES + ML_BLOCK_MAX_EVENTS * ML_EVENT_COLUMN_BYTES + ML_ARGS_MAX_BYTES)
#define ML_EVENT_COLUMN_BYTES (1 + 8 * 4 + 3 * 8) /* of one event, without its args */

struct ml_encoder {
    uint64_t first_ns;
    uint64_t last_ns;
    uint64_t floor_ns;  /* no event is earlier: the end of the previous block */
    uint64_t addr_bits; /* all addresses or-ed: its low zeros are the shift */
    uint32_t events;
    uint32_t addrs;
    uint32_t sizes;
    uint32_t threads;
    uint32_t spaces;
    uint32_t scopes;
    uint32_t stacks;
    uint32_t wide_times;
    uint32_t wide_sizes;
    uint32_t thread;
    uint32_t space;
    uint32_t scope;
    uint32_t time_shift; /* times are stored in units of 2 to the power of this, rounded down */
    bool any_stack;
    uint8_t *args_end;
    uint8_t kinds[ML_BLOCK_MAX_EVENTS];
    uint32_t time_col[ML_BLOCK_MAX_EVENTS];
    uint64_t addr_col[ML_BLOCK_MAX_EVENTS];
    uint32_t size_col[ML_BLOCK_MAX_EVENTS];
    uint32_t thread_col[ML_BLOCK_MAX_EVENTS];
    uint32_t space_col[ML_BLOCK_MAX_EVENTS];
    uint32_t scope_col[ML_BLOCK_MAX_EVENTS];
    uint32_t stack_col[ML_BLOCK_MAX_EVENTS];
    uint64_t wide_time_col[ML_BLOCK_MAX_EVENTS];
    uint64_t wide_size_col[ML_BLOCK_MAX_EVENTS];
    uint8_t args[ML_ARGS_MAX_BYTES];
    struct ml_packed_columns packed; /* some of these columns as they are stored */
};

/* Precondition: all zero, or used before. */
void ml_encoder_init(struct ml_encoder *e);

static inline bool ml_encoder_full(const struct ml_encoder *e)
{
    return e->events == ML_BLOCK_MAX_EVENTS ||
           e->args_end + ML_EVENT_ARGS * ML_VARINT_MAX > e->args + ML_ARGS_MAX_BYTES;
}

/* Precondition: not full; ev->kind is a known kind. A time before the last
 * event's is raised to it. */
static inline void ml_encoder_add(struct ml_encoder *e, const struct ml_event *ev);

/* A run of plain allocations and frees of one thread, space and scope. Most events are in such
 * runs, so the encoder's state is kept in registers. Begin when the block already has an event;
 * end before any other use of the encoder. An empty run changes nothing. */
struct ml_encoder_run {
    struct ml_encoder *e;
    uint32_t thread;
    uint32_t space;
    uint32_t scope;
    uint8_t changed; /* bits for the next event's kind */
    uint32_t events;
    uint32_t addrs;
    uint32_t sizes;
    uint32_t stacks;
    uint32_t any_stack; /* 0: no event of the run has one */
    uint64_t last_ns;
    uint64_t addr_bits;
};

/* Writes the block's raw bytes to out (ML_EVENTS_RAW_MAX of room) and fills in
 * the header's times and counts. Returns the number of bytes, 0 if there were no
 * events. More events may be added and all written again. */
size_t ml_encoder_write(struct ml_encoder *e, uint8_t *out, struct ml_block_header *ret);

/* The same, and empties the encoder. */
size_t ml_encoder_finish(struct ml_encoder *e, uint8_t *out, struct ml_block_header *ret);

/* ---- inline, since a collector calls it tens of millions of times a second */

static inline void ml_encoder_context(struct ml_encoder *e, const struct ml_event *ev,
                                      uint8_t *kind)
{
    if (ev->thread != e->thread) {
        *kind |= ML_THREAD_CHANGED;
        e->thread_col[e->threads++] = e->thread = ev->thread;
    }
    if (ev->space != e->space) {
        *kind |= ML_SPACE_CHANGED;
        e->space_col[e->spaces++] = e->space = ev->space;
    }
    if (ev->scope != e->scope) {
        *kind |= ML_SCOPE_CHANGED;
        e->scope_col[e->scopes++] = e->scope = ev->scope;
    }
}

static inline void ml_encoder_time(struct ml_encoder *e, uint64_t time_ns)
{
    uint64_t delta = 0;

    if (!e->events)
        e->first_ns = e->last_ns = ml_max_u64(time_ns, e->floor_ns);
    if (time_ns > e->last_ns) {
        delta = time_ns - e->last_ns;
        e->last_ns = time_ns;
    }
    if (ML_UNLIKELY(delta >= ML_WIDE_MARK)) {
        e->wide_time_col[e->wide_times++] = delta;
        delta = ML_WIDE_MARK;
    }
    e->time_col[e->events] = (uint32_t)delta;
}

static inline void ml_encoder_add(struct ml_encoder *e, const struct ml_event *ev)
{
    const struct ml_shape *shape = &ml_shapes[ev->kind];
    uint8_t kind = ev->kind;

    ml_encoder_context(e, ev, &kind);
    ml_encoder_time(e, ev->time_ns);
    e->kinds[e->events++] = kind;
    if (shape->bits & ML_HAS_ADDR) {
        e->addr_col[e->addrs++] = ev->addr;
        e->addr_bits |= ev->addr;
    }
    if (shape->bits & ML_HAS_SIZE) {
        uint32_t size = (uint32_t)ev->size;
        if (ML_UNLIKELY(ev->size >= ML_WIDE_MARK)) {
            e->wide_size_col[e->wide_sizes++] = ev->size;
            size = ML_WIDE_MARK;
        }
        e->size_col[e->sizes++] = size;
    }
    if (shape->bits & ML_HAS_STACK) {
        e->any_stack |= ev->stack != 0;
        e->stack_col[e->stacks++] = ev->stack;
    }
    for (int i = 0; i < shape->args; i++)
        e->args_end = ml_varint_put(e->args_end, ev->args[i]);
}

static inline void ml_encoder_run_begin(struct ml_encoder_run *r, struct ml_encoder *e,
                                        uint32_t thread, uint32_t space, uint32_t scope)
{
    *r = (struct ml_encoder_run){
        .e = e,
        .thread = thread,
        .space = space,
        .scope = scope,
        .changed = (uint8_t)((thread != e->thread ? ML_THREAD_CHANGED : 0) |
                             (space != e->space ? ML_SPACE_CHANGED : 0) |
                             (scope != e->scope ? ML_SCOPE_CHANGED : 0)),
        .events = e->events,
        .addrs = e->addrs,
        .sizes = e->sizes,
        .stacks = e->stacks,
        .last_ns = e->last_ns,
        .addr_bits = e->addr_bits,
    };
}

/* Whether a time can be added here; else end the run and use ml_encoder_add. */
static inline bool ml_encoder_run_fits(const struct ml_encoder_run *r, uint64_t time_ns,
                                       uint64_t size)
{
    return time_ns - r->last_ns < ML_WIDE_MARK && size < ML_WIDE_MARK;
}

/* An allocation (is_alloc 1) or a free (0). A branch could not be predicted, so there is none:
 * a free writes entries that the next event overwrites. */
static inline void ml_encoder_run_put(struct ml_encoder_run *r, uint8_t kind, uint64_t time_ns,
                                      uint64_t addr, uint32_t is_alloc, uint64_t size,
                                      uint32_t stack)
{
    struct ml_encoder *e = r->e;

    e->time_col[r->events] = (uint32_t)(time_ns - r->last_ns);
    e->kinds[r->events++] = kind | r->changed;
    r->changed = 0;
    r->last_ns = time_ns;
    e->addr_col[r->addrs++] = addr;
    r->addr_bits |= addr;
    e->size_col[r->sizes] = (uint32_t)size;
    e->stack_col[r->stacks] = stack;
    r->any_stack |= stack;
    r->sizes += is_alloc;
    r->stacks += is_alloc;
}

static inline void ml_encoder_run_end(struct ml_encoder_run *r)
{
    struct ml_encoder *e = r->e;

    if (r->events == e->events)
        return;
    if (r->thread != e->thread)
        e->thread_col[e->threads++] = e->thread = r->thread;
    if (r->space != e->space)
        e->space_col[e->spaces++] = e->space = r->space;
    if (r->scope != e->scope)
        e->scope_col[e->scopes++] = e->scope = r->scope;
    e->events = r->events;
    e->addrs = r->addrs;
    e->sizes = r->sizes;
    e->stacks = r->stacks;
    e->last_ns = r->last_ns;
    e->addr_bits = r->addr_bits;
    e->any_stack |= r->any_stack != 0;
}

#endif
