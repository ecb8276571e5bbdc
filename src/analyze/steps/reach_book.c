/* reach_book.c: see reach_book.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reach_book.h"

#include <errno.h>

#include "block.h"
#include "number_rows.h"
#include "varint.h"

static int by_place(const void *left, const void *right)
{
    const struct ml_reach_entry *a = left, *b = right;

    if (a->space != b->space)
        return a->space < b->space ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

static int read_processes(struct ml_reach_book *book, struct ml_rows *rows)
{
    uint64_t row[ML_REACH_PROCESS_FIELDS];
    int n, r = 0;

    while (r == 0 && (n = ml_rows_next(rows, row, ML_REACH_PROCESS_FIELDS)) != 0) {
        if (n < 0)
            return n;
        r = ml_vec_push(&book->processes,
                        (struct ml_reach_process){
                            .number = (uint32_t)ml_min_u64(row[ML_REACH_PROCESS_NUMBER], ML_ID_MAX),
                            .outcome = (enum ml_reach_outcome)ml_min_u64(
                                row[ML_REACH_PROCESS_OUTCOME], ML_REACH_TOO_LONG),
                            .searched_bytes = row[ML_REACH_PROCESS_SEARCHED_BYTES],
                        });
    }
    return r;
}

/* Readers that know fewer kinds of reach take others for unknown. */
static int read_blocks(struct ml_reach_book *book, struct ml_rows *rows)
{
    uint64_t row[ML_REACH_BLOCK_FIELDS], address = 0;
    int n, r = 0;

    while (r == 0 && (n = ml_rows_next(rows, row, ML_REACH_BLOCK_FIELDS)) != 0) {
        if (n < 0)
            return n;
        address += (uint64_t)ml_unzigzag(row[ML_REACH_BLOCK_ADDRESS]);
        r = ml_vec_push(&book->entries,
                        (struct ml_reach_entry){
                            .address = address,
                            .space = (uint32_t)ml_min_u64(row[ML_REACH_BLOCK_SPACE], ML_ID_MAX),
                            .reach = (uint8_t)(row[ML_REACH_BLOCK_REACH] < ML_REACHES
                                                   ? row[ML_REACH_BLOCK_REACH]
                                                   : ML_REACH_UNKNOWN),
                        });
    }
    return r;
}

static int read_records(struct ml_reach_book *book, const struct ml_buf *bytes)
{
    const uint8_t *in = bytes->data, *end = in + bytes->len;
    struct ml_record record;
    struct ml_rows rows;
    int n, r = 0;

    while (r == 0 && (n = ml_record_next(&in, end, &record)) != 0) {
        if (n < 0)
            return n;
        if (record.tag != ML_REACH_PROCESSES && record.tag != ML_REACH_BLOCKS)
            continue;
        r = ml_rows_open(&record, &rows);
        if (r == 0)
            r = record.tag == ML_REACH_PROCESSES ? read_processes(book, &rows)
                                                 : read_blocks(book, &rows);
    }
    return r;
}

int ml_reach_book_read(const struct ml_trace *trace, struct ml_reach_book *ret)
{
    int64_t first = ml_trace_last_section(trace, ML_BLOCK_REACH);
    struct ml_buf bytes = {0};
    int r;

    *ret = (struct ml_reach_book){.is_there = first >= 0};
    if (first < 0)
        return 0;
    r = ml_trace_read_section(trace, (size_t)first, ML_BLOCK_REACH, &bytes);
    if (r == 0)
        r = read_records(ret, &bytes);
    ml_vec_sort(&ret->entries, by_place);
    ml_buf_release(&bytes);
    return r;
}

enum ml_reach ml_reach_book_of(const struct ml_reach_book *book, uint32_t space, uint64_t address)
{
    const struct ml_reach_entry wanted = {.address = address, .space = space};
    size_t low = 0, high = book->entries.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = by_place(&book->entries.items[middle], &wanted);

        if (order == 0)
            return (enum ml_reach)book->entries.items[middle].reach;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return ML_REACH_UNKNOWN;
}

void ml_reach_book_release(struct ml_reach_book *book)
{
    ml_vec_release(&book->processes);
    ml_vec_release(&book->entries);
    *book = (struct ml_reach_book){0};
}
