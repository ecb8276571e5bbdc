/* read_occasions.c: the tables of labels, marks and samples: one row for each event
 * of that kind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler.h"
#include "memledger/memledger.h"
#include "read_by_event.h"
#include "samples.h"

static uint32_t process_of(const struct ml_batch *b, const struct ml_event *event)
{
    return ml_trace_thread(b->trace, event->thread)->process;
}

/* ---- Labels ------------------------------------------------------------ */

enum {
    LABEL_TIME,
    LABEL_PROCESS,
    LABEL_THREAD,
    LABEL_DEVICE,
    LABEL_SPACE,
    LABEL_ADDRESS,
    LABEL_NAME,
    LABEL_CATEGORY,
    LABEL_COLUMNS
};

static const struct ml_column label_columns[LABEL_COLUMNS] = {
    [LABEL_TIME] = {"time_ns", ML_COLUMN_U64, false, NULL},
    [LABEL_PROCESS] = {"process", ML_COLUMN_U32, false, NULL},
    [LABEL_THREAD] = {"thread", ML_COLUMN_U32, false, NULL},
    [LABEL_DEVICE] = {"device", ML_COLUMN_TEXT, false, ml_text_space_device},
    [LABEL_SPACE] = {"space", ML_COLUMN_TEXT, false, ml_text_space_name},
    [LABEL_ADDRESS] = {"address", ML_COLUMN_U64, false, NULL},
    [LABEL_NAME] = {"label", ML_COLUMN_TEXT, true, ml_text_string},
    [LABEL_CATEGORY] = {"category", ML_COLUMN_TEXT, false, ml_text_category},
};

static void put_label(struct ml_batch *b, const struct ml_event *event,
                      const struct ml_block *freed)
{
    (void)freed;
    if (event->kind != ML_LABEL)
        return;
    ml_batch_u64(b, LABEL_TIME, event->time_ns);
    ml_batch_u32(b, LABEL_PROCESS, process_of(b, event));
    ml_batch_u32(b, LABEL_THREAD, event->thread);
    ml_batch_text(b, LABEL_DEVICE, event->space);
    ml_batch_text(b, LABEL_SPACE, event->space);
    ml_batch_u64(b, LABEL_ADDRESS, event->addr);
    ml_batch_text(b, LABEL_NAME, event->args[0]);
    ml_batch_text(b, LABEL_CATEGORY, event->args[1]);
    ml_batch_end_row(b);
}

static int fill_labels(void *state, struct ml_batch *b, struct ml_error *err)
{
    return ml_by_event_fill(state, b, put_label, err);
}

const struct ml_table_kind ml_table_labels = {"labels",         label_columns, LABEL_COLUMNS,
                                              ml_by_event_open, fill_labels,   ml_by_event_close};

/* ---- Marks ------------------------------------------------------------- */

enum { MARK_TIME, MARK_PROCESS, MARK_THREAD, MARK_KIND, MARK_NUMBER, MARK_NAME, MARK_COLUMNS };

static int mark_kind(const struct ml_trace *trace, uint64_t number, struct ml_buf *out)
{
    (void)trace;
    return ml_buf_puts(out, ml_mark_name(number));
}

static const struct ml_column mark_columns[MARK_COLUMNS] = {
    [MARK_TIME] = {"time_ns", ML_COLUMN_U64, false, NULL},
    [MARK_PROCESS] = {"process", ML_COLUMN_U32, false, NULL},
    [MARK_THREAD] = {"thread", ML_COLUMN_U32, false, NULL},
    [MARK_KIND] = {"mark", ML_COLUMN_TEXT, false, mark_kind},
    [MARK_NUMBER] = {"number", ML_COLUMN_U64, true, NULL},
    [MARK_NAME] = {"name", ML_COLUMN_TEXT, true, ml_text_string},
};

static void put_mark(struct ml_batch *b, const struct ml_event *event, const struct ml_block *freed)
{
    (void)freed;
    if (event->kind != ML_MARK)
        return;
    ml_batch_u64(b, MARK_TIME, event->time_ns);
    ml_batch_u32(b, MARK_PROCESS, process_of(b, event));
    ml_batch_u32(b, MARK_THREAD, event->thread);
    ml_batch_text(b, MARK_KIND, event->args[0]);
    if (event->args[0] == MEMLEDGER_MARK_PHASE || event->args[0] == ML_MARK_TYPE)
        ml_batch_null(b, MARK_NUMBER);
    else
        ml_batch_u64(b, MARK_NUMBER, event->args[1]);
    ml_batch_text(b, MARK_NAME, event->args[2]);
    ml_batch_end_row(b);
}

static int fill_marks(void *state, struct ml_batch *b, struct ml_error *err)
{
    return ml_by_event_fill(state, b, put_mark, err);
}

const struct ml_table_kind ml_table_marks = {"marks",          mark_columns, MARK_COLUMNS,
                                             ml_by_event_open, fill_marks,   ml_by_event_close};

/* ---- Samples ----------------------------------------------------------- */

enum {
    SAMPLE_TIME,
    SAMPLE_DEVICE,
    SAMPLE_USED,
    SAMPLE_FREE,
    SAMPLE_TOTAL,
    SAMPLE_PROCESS_BYTES,
    SAMPLE_PROCESS,
    SAMPLE_INSIDE,
    SAMPLE_COLUMNS
};

static const struct ml_column sample_columns[SAMPLE_COLUMNS] = {
    [SAMPLE_TIME] = {"time_ns", ML_COLUMN_U64, false, NULL},
    [SAMPLE_DEVICE] = {"device", ML_COLUMN_TEXT, true, ml_text_string},
    [SAMPLE_USED] = {"used_bytes", ML_COLUMN_U64, true, NULL},
    [SAMPLE_FREE] = {"free_bytes", ML_COLUMN_U64, true, NULL},
    [SAMPLE_TOTAL] = {"total_bytes", ML_COLUMN_U64, true, NULL},
    [SAMPLE_PROCESS_BYTES] = {"process_bytes", ML_COLUMN_U64, true, NULL},
    [SAMPLE_PROCESS] = {"process", ML_COLUMN_U32, true, NULL},
    [SAMPLE_INSIDE] = {"inside", ML_COLUMN_BOOL, false, NULL},
};

static void put_sample(struct ml_batch *b, const struct ml_event *event,
                       const struct ml_block *freed)
{
    uint64_t bits = event->args[1];
    uint32_t process;

    (void)freed;
    if (event->kind != ML_SAMPLE)
        return;
    ml_batch_u64(b, SAMPLE_TIME, event->time_ns);
    ml_batch_text(b, SAMPLE_DEVICE, event->args[0]);
    for (unsigned i = 0; i < 4; i++) {
        if (bits & (1u << i))
            ml_batch_u64(b, SAMPLE_USED + i, event->args[2 + i]);
        else
            ml_batch_null(b, SAMPLE_USED + i);
    }
    if (bits & ML_SAMPLE_BY_PROCESS && ml_sample_about(event, &process))
        ml_batch_u32(b, SAMPLE_PROCESS, process);
    else
        ml_batch_null(b, SAMPLE_PROCESS);
    ml_batch_bool(b, SAMPLE_INSIDE, ml_sample_is_inside(event));
    ml_batch_end_row(b);
}

static int fill_samples(void *state, struct ml_batch *b, struct ml_error *err)
{
    return ml_by_event_fill(state, b, put_sample, err);
}

const struct ml_table_kind ml_table_samples = {"samples",        sample_columns, SAMPLE_COLUMNS,
                                               ml_by_event_open, fill_samples,   ml_by_event_close};
