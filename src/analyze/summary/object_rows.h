/* object_rows.h: tasks, frames, events, operators and counters of a trace, added up by name:
 * number, duration, range of values.
 *
 * Categories are those of MXNet's profiler: the domain for a task or a counter, the domain with
 * ",frame" for a frame, "event" for an event, "operator" for an operator. Objects that were
 * started and never stopped are not counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_OBJECT_ROWS_H
#define ML_ANALYZE_OBJECT_ROWS_H

#include "arena.h"
#include "event.h"
#include "intern.h"
#include "map.h"
#include "trace.h"
#include "vec.h"

enum ml_object_unit { ML_OBJECT_TIME, ML_OBJECT_MEMORY, ML_OBJECT_VALUE };

struct ml_object_row {
    enum ml_object_unit unit; /* of all values below: nanoseconds, bytes or a count */
    const char *category, *name;
    uint64_t count;
    double sum; /* for durations: the total */
    int64_t min, max, last;
    double average;
};

/* An open object, and the one with the same key around it. */
struct ml_object_open {
    uint64_t start_ns;
    uint32_t outer; /* index + 1, 0: none; in a free entry the next free one */
};

/* Used while a trace is read. All zero except `trace` is a valid empty one. */
struct ml_object_book {
    const struct ml_trace *trace;
    struct ml_arena arena;
    struct ml_intern keys; /* unit, category, name -> index of a row */
    ML_VEC(struct ml_object_row) rows;
    struct ml_map object_rows, scope_rows; /* number -> index, or UINT64_MAX: none */
    struct ml_map opened;                  /* object, or thread and scope -> index + 1 */
    ML_VEC(struct ml_object_open) opens;
    uint32_t free_open;     /* index + 1 */
    struct ml_map scope_of; /* thread -> its current scope */
};

/* Takes any event. @return 0 or -ENOMEM */
int ml_object_book_add(struct ml_object_book *book, const struct ml_event *event);
void ml_object_book_release(struct ml_object_book *book);

typedef ML_VEC(struct ml_object_row) ml_object_row_list;

/* The order of the rows in a category. */
struct ml_object_order {
    int sort_by; /* MEMLEDGER_BY_TOTAL (of a counter the last value), ..., MEMLEDGER_BY_COUNT */
    bool ascending;
};

/* The rows by unit and category, the first `top` of each category. Texts go to `arena`.
 * @return 0 or -ENOMEM */
int ml_object_book_rows(struct ml_object_book *book, struct ml_object_order order, size_t top,
                        struct ml_arena *arena, ml_object_row_list *ret);

#endif
