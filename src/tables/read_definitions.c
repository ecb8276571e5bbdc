/* read_definitions.c: the tables of definitions that events refer to by number: processes,
 * threads, spaces, scopes and stacks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include "defs.h"
#include "event_names.h"
#include "process_ranks.h"
#include "read_table.h"

/* The position in a table. */
struct state {
    uint32_t next;  /* number of the definition */
    uint32_t stack; /* the stack of the next frame, 0: begin with `next` */
    uint32_t depth;
};

static int open_table(const struct ml_trace *trace, void **ret, struct ml_error *err)
{
    struct state *s = calloc(1, sizeof(*s));

    (void)trace;
    if (!s)
        return ml_error_set(err, -ENOMEM, "out of memory");
    *ret = s;
    return 0;
}

/* Adds a row for a definition, or none if the file lacks its number. */
typedef void definition_fn(struct ml_batch *b, uint32_t number);

/* The fill of a table with a row for each definition. */
static int fill_table(struct state *s, struct ml_batch *b, uint32_t count, definition_fn *put)
{
    for (; s->next < count && ml_batch_room(b) > 0; s->next++)
        put(b, s->next);
    return 0;
}

static void put_optional(struct ml_batch *b, size_t column, int64_t number)
{
    if (number < 0)
        ml_batch_null(b, column);
    else
        ml_batch_u32(b, column, (uint32_t)number);
}

/* ---- Processes --------------------------------------------------------- */

static int how_text(const struct ml_trace *trace, uint64_t number, struct ml_buf *out)
{
    (void)trace;
    return ml_buf_puts(out, ml_how_name((uint32_t)number));
}

static const struct ml_column process_columns[] = {
    {"process", ML_COLUMN_U32, false, NULL},
    {"pid", ML_COLUMN_U32, false, NULL},
    {"parent", ML_COLUMN_U32, true, NULL},
    {"how", ML_COLUMN_TEXT, false, how_text},
    {"start_ns", ML_COLUMN_U64, false, NULL},
    {"command", ML_COLUMN_TEXT, true, ml_text_string},
    {"role", ML_COLUMN_TEXT, true, ml_text_string},
    {"rank", ML_COLUMN_U32, true, NULL},
    {"place", ML_COLUMN_TEXT, true, ml_text_string},
};

struct process_state {
    uint32_t next;
    struct ml_rank_table ranks;
};

static void close_processes(void *state)
{
    struct process_state *s = state;

    if (s)
        ml_rank_table_release(&s->ranks);
    free(s);
}

static int open_processes(const struct ml_trace *trace, void **ret, struct ml_error *err)
{
    struct process_state *s = calloc(1, sizeof(*s));

    if (!s || ml_rank_table_init(&s->ranks, trace) < 0) {
        close_processes(s);
        return ml_error_set(err, -ENOMEM, "out of memory");
    }
    *ret = s;
    return 0;
}

static void put_process(struct ml_batch *b, const struct ml_rank_table *ranks, uint32_t number)
{
    const struct ml_process *process = ml_trace_process(b->trace, number);

    if (process->how == 0) /* a number that the file lacks */
        return;
    ml_batch_u32(b, 0, number);
    ml_batch_u32(b, 1, process->pid);
    put_optional(b, 2, process->parent);
    ml_batch_text(b, 3, process->how);
    ml_batch_u64(b, 4, process->start_ns);
    ml_batch_text(b, 5, process->command);
    ml_batch_text(b, 6, process->role);
    put_optional(b, 7, (int64_t)ml_rank_table_of(ranks, number) - 1);
    ml_batch_text(b, 8, process->place);
    ml_batch_end_row(b);
}

static int fill_processes(void *state, struct ml_batch *b, struct ml_error *err)
{
    struct process_state *s = state;

    (void)err;
    for (; s->next < ml_trace_processes(b->trace) && ml_batch_room(b) > 0; s->next++)
        put_process(b, &s->ranks, s->next);
    return 0;
}

const struct ml_table_kind ml_table_processes = {
    "processes",    process_columns, ML_ARRAY_SIZE(process_columns),
    open_processes, fill_processes,  close_processes};

/* ---- Threads ----------------------------------------------------------- */

static const struct ml_column thread_columns[] = {
    {"thread", ML_COLUMN_U32, false, NULL},   {"process", ML_COLUMN_U32, false, NULL},
    {"pid", ML_COLUMN_U32, false, NULL},      {"tid", ML_COLUMN_U32, false, NULL},
    {"start_ns", ML_COLUMN_U64, false, NULL}, {"name", ML_COLUMN_TEXT, true, ml_text_string},
};

static void put_thread(struct ml_batch *b, uint32_t number)
{
    const struct ml_thread *thread = ml_trace_thread(b->trace, number);

    ml_batch_u32(b, 0, number);
    ml_batch_u32(b, 1, thread->process);
    ml_batch_u32(b, 2, ml_trace_process(b->trace, thread->process)->pid);
    ml_batch_u32(b, 3, thread->tid);
    ml_batch_u64(b, 4, thread->start_ns);
    ml_batch_text(b, 5, thread->name);
    ml_batch_end_row(b);
}

static int fill_threads(void *state, struct ml_batch *b, struct ml_error *err)
{
    (void)err;
    return fill_table(state, b, ml_trace_threads(b->trace), put_thread);
}

const struct ml_table_kind ml_table_threads = {
    "threads", thread_columns, ML_ARRAY_SIZE(thread_columns), open_table, fill_threads, free};

/* ---- Spaces ------------------------------------------------------------ */

static const struct ml_column space_columns[] = {
    {"number", ML_COLUMN_U32, false, NULL},
    {"process", ML_COLUMN_U32, false, NULL},
    {"device", ML_COLUMN_TEXT, false, ml_text_space_device},
    {"level", ML_COLUMN_TEXT, false, ml_text_space_level},
    {"space", ML_COLUMN_TEXT, false, ml_text_space_name},
};

static void put_space(struct ml_batch *b, uint32_t number)
{
    const struct ml_space *space = ml_trace_space(b->trace, number);

    if (space->level == 0)
        return;
    ml_batch_u32(b, 0, number);
    ml_batch_u32(b, 1, space->process);
    ml_batch_text(b, 2, number);
    ml_batch_text(b, 3, number);
    ml_batch_text(b, 4, number);
    ml_batch_end_row(b);
}

static int fill_spaces(void *state, struct ml_batch *b, struct ml_error *err)
{
    (void)err;
    return fill_table(state, b, ml_trace_spaces(b->trace), put_space);
}

const struct ml_table_kind ml_table_spaces = {
    "spaces", space_columns, ML_ARRAY_SIZE(space_columns), open_table, fill_spaces, free};

/* ---- Scopes ------------------------------------------------------------ */

static const struct ml_column scope_columns[] = {
    {"number", ML_COLUMN_U32, false, NULL},
    {"parent", ML_COLUMN_U32, true, NULL},
    {"depth", ML_COLUMN_U32, false, NULL},
    {"kind", ML_COLUMN_TEXT, false, ml_text_scope_kind},
    {"name", ML_COLUMN_TEXT, true, ml_text_string},
    {"scope", ML_COLUMN_TEXT, false, ml_text_scope},
    {"class", ML_COLUMN_TEXT, true, ml_text_string},
};

static void put_scope(struct ml_batch *b, uint32_t number)
{
    const struct ml_scope *scope = ml_trace_scope(b->trace, number);

    if (number == 0) /* the root */
        return;
    ml_batch_u32(b, 0, number);
    put_optional(b, 1, scope->parent ? (int64_t)scope->parent : -1);
    ml_batch_u32(b, 2, scope->depth);
    ml_batch_text(b, 3, scope->kind);
    ml_batch_text(b, 4, scope->name);
    ml_batch_text(b, 5, number);
    ml_batch_text(b, 6, scope->class_name);
    ml_batch_end_row(b);
}

static int fill_scopes(void *state, struct ml_batch *b, struct ml_error *err)
{
    (void)err;
    return fill_table(state, b, ml_trace_scopes(b->trace), put_scope);
}

const struct ml_table_kind ml_table_scopes = {
    "scopes", scope_columns, ML_ARRAY_SIZE(scope_columns), open_table, fill_scopes, free};

/* ---- Stacks: a row for each frame -------------------------------------- */

static int library_text(const struct ml_trace *trace, uint64_t number, struct ml_buf *out)
{
    return ml_text_string(trace, ml_trace_library(trace, (uint32_t)number)->path, out);
}

static int frame_kind_text(const struct ml_trace *trace, uint64_t number, struct ml_buf *out)
{
    (void)trace;
    return ml_buf_puts(out, number == ML_FRAME_NATIVE   ? "native"
                            : number == ML_FRAME_PYTHON ? "python"
                                                        : "unknown");
}

static const struct ml_column stack_columns[] = {
    {"stack", ML_COLUMN_U32, false, NULL},
    {"depth", ML_COLUMN_U32, false, NULL}, /* 0: the innermost */
    {"kind", ML_COLUMN_TEXT, false, frame_kind_text},
    {"function", ML_COLUMN_TEXT, true, ml_text_string},
    {"file", ML_COLUMN_TEXT, true, ml_text_string},
    {"line", ML_COLUMN_U32, true, NULL},
    {"library", ML_COLUMN_TEXT, true, library_text},
    {"offset", ML_COLUMN_U64, true, NULL},
};

static void put_frame(struct ml_batch *b, const struct state *s)
{
    const struct ml_frame *frame =
        ml_trace_frame(b->trace, ml_trace_stack(b->trace, s->stack)->frame);

    ml_batch_u32(b, 0, s->next);
    ml_batch_u32(b, 1, s->depth);
    ml_batch_text(b, 2, frame->kind);
    ml_batch_text(b, 3, frame->function);
    ml_batch_text(b, 4, frame->file);
    put_optional(b, 5, frame->line ? (int64_t)frame->line : -1);
    if (frame->library >= 0)
        ml_batch_text(b, 6, (uint64_t)frame->library);
    else
        ml_batch_null(b, 6);
    if (frame->kind == ML_FRAME_NATIVE)
        ml_batch_u64(b, 7, frame->address);
    else
        ml_batch_null(b, 7);
    ml_batch_end_row(b);
}

static int fill_stacks(void *state, struct ml_batch *b, struct ml_error *err)
{
    struct state *s = state;

    (void)err;
    while (s->next < ml_trace_stacks(b->trace) && ml_batch_room(b) > 0) {
        if (s->stack == 0) {
            s->depth = 0;
            s->stack = ml_trace_stack(b->trace, s->next)->depth ? s->next : 0;
        }
        if (s->stack != 0) {
            put_frame(b, s);
            s->stack = ml_trace_stack(b->trace, s->stack)->caller;
            s->depth++;
        }
        s->next += s->stack == 0;
    }
    return 0;
}

const struct ml_table_kind ml_table_stacks = {
    "stacks", stack_columns, ML_ARRAY_SIZE(stack_columns), open_table, fill_stacks, free};
