/* digest_write.c: a digest as bytes; see digest_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "digest_file.h"
#include "digest_tags.h"
#include "varint.h"

static int put_text(struct ml_buf *out, uint32_t tag, const char *text)
{
    return text ? ml_record_put(out, tag, text, strlen(text)) : 0;
}

/* A record of numbers, then a name up to its end. */
static int put_named(struct ml_buf *out, uint32_t tag, const uint64_t *numbers, size_t count,
                     const char *name)
{
    struct ml_buf body = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++)
        r = ml_number_put(&body, numbers[i]);
    if (r == 0)
        r = ml_buf_puts(&body, name);
    if (r == 0)
        r = ml_record_put(out, tag, body.data, body.len);
    ml_buf_release(&body);
    return r;
}

static int put_row(struct ml_buf *out, uint32_t tag, uint64_t *row, size_t fields)
{
    const ml_numbers numbers = {.items = row, .len = fields};

    return ml_rows_put(out, tag, &numbers, fields);
}

static int put_facts(const struct ml_digest *d, struct ml_buf *out)
{
    uint64_t row[ML_DIGEST_FACTS_FIELDS] = {
        [ML_DIGEST_AT_VERSION] = ML_DIGEST_VERSION,
        [ML_DIGEST_TRACE_BYTES] = d->trace_bytes,
        [ML_DIGEST_START_WALL_NS] = d->start_wall_ns,
        [ML_DIGEST_END_NS] = d->end_ns,
        [ML_DIGEST_EVENTS] = d->events,
        [ML_DIGEST_LOST] = d->lost,
        [ML_DIGEST_CUT_SHORT] = d->cut_short,
        [ML_DIGEST_KILLED_AT_LIMIT] = d->killed_at_limit_bytes,
        [ML_DIGEST_MEMORY_LIMIT] = d->memory_limit_bytes,
        [ML_DIGEST_HEAP_SAMPLED] = d->heap_sampled_bytes,
    };
    int r = put_row(out, ML_DIGEST_FACTS, row, ML_DIGEST_FACTS_FIELDS);

    if (r == 0)
        r = put_text(out, ML_DIGEST_COMMAND, d->command);
    return r < 0 ? r : put_text(out, ML_DIGEST_HOST, d->host);
}

static int put_settings(const struct ml_digest *d, struct ml_buf *out)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < d->settings.len; i++) {
        r = put_text(out, ML_DIGEST_SETTING_KEY, d->settings.items[i].key);
        if (r == 0)
            r = put_text(out, ML_DIGEST_SETTING_VALUE, d->settings.items[i].value);
    }
    return r;
}

/* The first module is none, in every digest. */
static int put_modules(const struct ml_digest *d, struct ml_buf *out)
{
    int r = 0;

    for (size_t i = 1; r == 0 && i < d->modules.len; i++) {
        const uint64_t parent = d->modules.items[i].parent;

        r = put_named(out, ML_DIGEST_MODULE, &parent, 1, d->modules.items[i].path);
    }
    return r;
}

static int put_book(const struct ml_digest_book *book, struct ml_buf *out)
{
    const uint64_t numbers[ML_DIGEST_BOOK_FIELDS] = {
        [ML_DIGEST_BOOK_SAMPLED] = book->sampled,
        [ML_DIGEST_BOOK_HAS_TOTAL] = book->has_total,
        [ML_DIGEST_BOOK_USED] = book->used_bytes,
        [ML_DIGEST_BOOK_TOTAL] = book->total_bytes,
        [ML_DIGEST_BOOK_UNEXPLAINED] = ml_zigzag(book->unexplained_bytes),
    };
    int r = put_named(out, ML_DIGEST_BOOK, numbers, ML_DIGEST_BOOK_FIELDS, book->device);

    for (size_t i = 0; r == 0 && i < book->entries.len; i++) {
        const uint64_t bytes = ml_zigzag(book->entries.items[i].bytes);

        r = put_named(out, ML_DIGEST_ENTRY, &bytes, 1, book->entries.items[i].name);
    }
    return r;
}

static int put_rows(const struct ml_digest_rank *rank, struct ml_buf *out)
{
    ml_numbers numbers = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < rank->rows.len; i++) {
        const struct ml_digest_row *row = &rank->rows.items[i];
        const uint64_t values[ML_DIGEST_ROW_FIELDS] = {row->number, row->begin_ns, row->end_ns,
                                                       row->peak_bytes, row->end_bytes};

        for (size_t n = 0; r == 0 && n < ML_DIGEST_ROW_FIELDS; n++)
            r = ml_vec_push(&numbers, values[n]);
    }
    if (r == 0)
        r = ml_rows_put(out, ML_DIGEST_ROWS, &numbers, ML_DIGEST_ROW_FIELDS);
    ml_vec_release(&numbers);
    return r;
}

static int put_cells(const struct ml_digest_rank *rank, struct ml_buf *out)
{
    ml_numbers numbers = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < rank->cells.len; i++) {
        r = ml_vec_push(&numbers, rank->cells.items[i].module);
        if (r == 0)
            r = ml_vec_push(&numbers, rank->cells.items[i].category);
    }
    if (r == 0)
        r = ml_rows_put(out, ML_DIGEST_CELLS, &numbers, 2);
    ml_vec_release(&numbers);
    return r;
}

/* Differences from one value to the next: most are 0. */
static int put_differences(struct ml_buf *out, uint32_t tag, const uint64_t *values, size_t lines,
                           size_t stride)
{
    struct ml_buf body = {0};
    int r = 0;

    for (size_t column = 0; r == 0 && column < stride; column++) {
        uint64_t before = 0;

        for (size_t i = 0; r == 0 && i < lines; i++) {
            uint64_t value = values[i * stride + column];

            r = ml_number_put(&body, ml_zigzag((int64_t)(value - before)));
            before = value;
        }
    }
    if (r == 0)
        r = ml_record_put(out, tag, body.data, body.len);
    ml_buf_release(&body);
    return r;
}

static int put_devices(const struct ml_digest_rank *rank, struct ml_buf *out)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < rank->devices.len; i++) {
        const struct ml_digest_device *device = &rank->devices.items[i];
        const uint64_t numbers[] = {device->peak_bytes, device->peak_time_ns};

        r = put_named(out, ML_DIGEST_DEVICE, numbers, 2, device->name);
    }
    return r;
}

static int put_head(const struct ml_digest_rank *rank, struct ml_buf *out)
{
    uint64_t row[ML_DIGEST_RANK_FIELDS] = {
        [ML_DIGEST_RANK_NUMBER] = rank->rank,
        [ML_DIGEST_RANK_PID] = rank->pid,
        [ML_DIGEST_RANK_PROCESSES] = rank->processes,
        [ML_DIGEST_RANK_ENDING] = rank->ending,
        [ML_DIGEST_RANK_EXIT_CODE] = rank->exit_code,
        [ML_DIGEST_RANK_SIGNAL] = rank->signal,
        [ML_DIGEST_RANK_START_NS] = rank->start_ns,
        [ML_DIGEST_RANK_END_NS] = rank->end_ns,
        [ML_DIGEST_RANK_OOMS] = rank->ooms,
        [ML_DIGEST_RANK_ALLOCATIONS] = rank->allocations,
        [ML_DIGEST_RANK_STEPS] = rank->steps,
        [ML_DIGEST_RANK_STEPS_PER_ROW] = rank->steps_per_row,
    };
    int r = put_row(out, ML_DIGEST_RANK, row, ML_DIGEST_RANK_FIELDS);

    if (r == 0)
        r = put_text(out, ML_DIGEST_PLACE, rank->place);
    if (r == 0)
        r = put_text(out, ML_DIGEST_RANK_COMMAND, rank->command);
    return r < 0 ? r : put_devices(rank, out);
}

static int put_rank(const struct ml_digest_rank *rank, struct ml_buf *out)
{
    int r = put_head(rank, out);

    if (r == 0)
        r = put_rows(rank, out);
    if (r == 0)
        r = put_cells(rank, out);
    if (r == 0 && rank->cells.len > 0)
        r = put_differences(out, ML_DIGEST_VALUES, rank->values.items, 1 + rank->rows.len,
                            rank->cells.len);
    if (r == 0)
        r = put_differences(out, ML_DIGEST_CURVE, rank->curve.items, rank->curve.len, 1);
    return r;
}

int ml_digest_put(const struct ml_digest *digest, struct ml_buf *out)
{
    int r = put_facts(digest, out);

    if (r == 0)
        r = put_settings(digest, out);
    if (r == 0)
        r = put_modules(digest, out);
    for (size_t i = 0; r == 0 && i < digest->books.len; i++)
        r = put_book(&digest->books.items[i], out);
    for (size_t i = 0; r == 0 && i < digest->ranks.len; i++)
        r = put_rank(&digest->ranks.items[i], out);
    return r;
}
