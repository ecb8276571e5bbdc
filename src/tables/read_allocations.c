/* read_allocations.c: the table of allocations, one row for each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include "allocations.h"
#include "read_table.h"

enum {
    TIME,
    FREE_TIME,
    LIFE,
    PROCESS,
    PID,
    THREAD,
    TID,
    DEVICE,
    LEVEL,
    SPACE,
    ADDRESS,
    BYTES,
    SCOPE,
    MODULE,
    CLASS,
    PHASE,
    LABEL,
    CATEGORY,
    STACK,
    COUNTED,
    COLUMNS,
};

static const struct ml_column columns[COLUMNS] = {
    [TIME] = {"time_ns", ML_COLUMN_U64, false, NULL},
    [FREE_TIME] = {"free_ns", ML_COLUMN_U64, true, NULL},
    [LIFE] = {"life_ns", ML_COLUMN_U64, true, NULL},
    [PROCESS] = {"process", ML_COLUMN_U32, false, NULL},
    [PID] = {"pid", ML_COLUMN_U32, false, NULL},
    [THREAD] = {"thread", ML_COLUMN_U32, false, NULL},
    [TID] = {"tid", ML_COLUMN_U32, false, NULL},
    [DEVICE] = {"device", ML_COLUMN_TEXT, false, ml_text_space_device},
    [LEVEL] = {"level", ML_COLUMN_TEXT, false, ml_text_space_level},
    [SPACE] = {"space", ML_COLUMN_TEXT, false, ml_text_space_name},
    [ADDRESS] = {"address", ML_COLUMN_U64, false, NULL},
    [BYTES] = {"bytes", ML_COLUMN_U64, false, NULL},
    [SCOPE] = {"scope", ML_COLUMN_TEXT, false, ml_text_scope},
    [MODULE] = {"module", ML_COLUMN_TEXT, true, ml_text_module},
    [CLASS] = {"class", ML_COLUMN_TEXT, true, ml_text_class},
    [PHASE] = {"phase", ML_COLUMN_TEXT, true, ml_text_phase},
    [LABEL] = {"label", ML_COLUMN_TEXT, true, ml_text_string},
    [CATEGORY] = {"category", ML_COLUMN_TEXT, false, ml_text_category},
    [STACK] = {"stack", ML_COLUMN_U32, true, NULL},
    [COUNTED] = {"counted", ML_COLUMN_BOOL, false, NULL},
};

struct state {
    struct ml_allocations *source;
    const struct ml_allocation *rows; /* read but not yet in a batch */
    size_t count;
};

static int open_table(const struct ml_trace *trace, void **ret, struct ml_error *err)
{
    struct state *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return ml_error_set(err, -ENOMEM, "out of memory");
    r = ml_allocations_open(trace, &s->source, err);
    if (r < 0)
        free(s);
    else
        *ret = s;
    return r;
}

static void close_table(void *state)
{
    struct state *s = state;

    ml_allocations_free(s->source);
    free(s);
}

static void put_life(struct ml_batch *b, const struct ml_allocation *a)
{
    ml_batch_u64(b, TIME, a->time_ns);
    if (a->ended) {
        ml_batch_u64(b, FREE_TIME, a->end_ns);
        ml_batch_u64(b, LIFE, a->end_ns - a->time_ns);
    } else {
        ml_batch_null(b, FREE_TIME);
        ml_batch_null(b, LIFE);
    }
}

static void put_who(struct ml_batch *b, const struct ml_allocation *a)
{
    const struct ml_thread *thread = ml_trace_thread(b->trace, a->thread);

    ml_batch_u32(b, PROCESS, thread->process);
    ml_batch_u32(b, PID, ml_trace_process(b->trace, thread->process)->pid);
    ml_batch_u32(b, THREAD, a->thread);
    ml_batch_u32(b, TID, thread->tid);
}

static void put_row(struct ml_batch *b, const struct ml_allocation *a)
{
    put_life(b, a);
    put_who(b, a);
    ml_batch_text(b, DEVICE, a->space);
    ml_batch_text(b, LEVEL, a->space);
    ml_batch_text(b, SPACE, a->space);
    ml_batch_u64(b, ADDRESS, a->addr);
    ml_batch_u64(b, BYTES, a->size);
    ml_batch_text(b, SCOPE, a->scope);
    ml_batch_text(b, MODULE, a->scope);
    ml_batch_text(b, CLASS, a->scope);
    ml_batch_text(b, PHASE, a->scope | (uint64_t)a->phase << 32);
    ml_batch_text(b, LABEL, a->label);
    ml_batch_text(b, CATEGORY, a->category);
    if (a->stack)
        ml_batch_u32(b, STACK, a->stack);
    else
        ml_batch_null(b, STACK);
    ml_batch_bool(b, COUNTED, a->counted);
    ml_batch_end_row(b);
}

static int fill(void *state, struct ml_batch *b, struct ml_error *err)
{
    struct state *s = state;

    while (ml_batch_room(b) > 0) {
        if (s->count == 0) {
            int n = ml_allocations_next(s->source, &s->rows, err);

            if (n <= 0)
                return n;
            s->count = (size_t)n;
        }
        put_row(b, s->rows++);
        s->count--;
    }
    return 0;
}

const struct ml_table_kind ml_table_allocations = {"allocations", columns, COLUMNS,
                                                   open_table,    fill,    close_table};
