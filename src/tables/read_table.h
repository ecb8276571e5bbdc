/* read_table.h: the tables of a trace for readers in Python: their columns, and the functions
 * that produce rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_READ_TABLE_H
#define ML_READ_TABLE_H

#include "arrow_batch.h"

struct ml_table_kind {
    const char *name;
    const struct ml_column *columns;
    size_t column_count;

    /* Begins at the first row. The caller owns the state; the trace must outlive it.
     * @return 0 or negative errno */
    int (*open)(const struct ml_trace *trace, void **ret_state, struct ml_error *err);

    /* Adds rows until the batch is full or there are no more; no row means the end.
     * @return 0 or negative errno; it need not check b->error */
    int (*fill)(void *state, struct ml_batch *b, struct ml_error *err);
    void (*close)(void *state);
};

extern const struct ml_table_kind ml_table_allocations, ml_table_events, ml_table_labels,
    ml_table_marks, ml_table_processes, ml_table_samples, ml_table_scopes, ml_table_spaces,
    ml_table_stacks, ml_table_threads;

/* @return NULL when no table has this name */
const struct ml_table_kind *ml_table_find(const char *name);

/* All tables, NULL-terminated. */
extern const struct ml_table_kind *const ml_tables[];

/* ---- Texts of numbers -------------------------------------------------- */

ml_text_fn ml_text_string;       /* of a string; string 0 has no text */
ml_text_fn ml_text_kind;         /* of an event */
ml_text_fn ml_text_category;     /* of a category */
ml_text_fn ml_text_scope;        /* the full path; "" for the root */
ml_text_fn ml_text_scope_kind;   /* of a kind of scopes */
ml_text_fn ml_text_module;       /* the innermost module of a scope */
ml_text_fn ml_text_class;        /* the class of that module */
ml_text_fn ml_text_phase;        /* of a scope, and from bit 32 on of the last mark */
ml_text_fn ml_text_space_device; /* of a space */
ml_text_fn ml_text_space_level;  /* of a space */
ml_text_fn ml_text_space_name;   /* of a space */

#endif
