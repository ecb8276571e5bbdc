/* digest_read.c: a digest from bytes, which are not trusted; see digest_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "block.h"
#include "digest_file.h"
#include "digest_tags.h"
#include "varint.h"

#define ROWS_LIMIT 65536

static uint64_t bytes_of(uint64_t value)
{
    return ml_min_u64(value, ML_BYTES_MAX);
}

static int64_t signed_bytes_of(uint64_t value)
{
    int64_t bytes = ml_unzigzag(value), most = (int64_t)ML_BYTES_MAX;

    return bytes > most ? most : bytes < -most ? -most : bytes;
}

static int get_text(struct ml_digest *d, const struct ml_record *record, const char **ret)
{
    *ret = ml_arena_dup(&d->arena, record->in, (size_t)(record->end - record->in));
    return *ret ? 0 : -ENOMEM;
}

/* Numbers, then a name. */
static int get_named(struct ml_digest *d, const struct ml_record *record, uint64_t *numbers,
                     size_t count, const char **ret_name)
{
    struct ml_record rest = *record;

    for (size_t i = 0; i < count; i++) {
        rest.in = ml_varint_get(rest.in, rest.end, &numbers[i]);
        if (!rest.in)
            return -EBADMSG;
    }
    return get_text(d, &rest, ret_name);
}

static int get_row(const struct ml_record *record, uint64_t *row, size_t fields)
{
    struct ml_rows rows;

    return ml_rows_open(record, &rows) < 0 || ml_rows_next(&rows, row, fields) != 1 ? -EBADMSG : 0;
}

static int get_facts(struct ml_digest *d, const struct ml_record *record)
{
    uint64_t row[ML_DIGEST_FACTS_FIELDS];

    if (get_row(record, row, ML_DIGEST_FACTS_FIELDS) < 0)
        return -EBADMSG;
    if (row[ML_DIGEST_AT_VERSION] > ML_DIGEST_VERSION)
        return -EPROTONOSUPPORT;
    d->trace_bytes = row[ML_DIGEST_TRACE_BYTES];
    d->start_wall_ns = row[ML_DIGEST_START_WALL_NS];
    d->end_ns = row[ML_DIGEST_END_NS];
    d->events = row[ML_DIGEST_EVENTS];
    d->lost = row[ML_DIGEST_LOST];
    d->cut_short = row[ML_DIGEST_CUT_SHORT];
    d->killed_at_limit_bytes = bytes_of(row[ML_DIGEST_KILLED_AT_LIMIT]);
    d->memory_limit_bytes = bytes_of(row[ML_DIGEST_MEMORY_LIMIT]);
    d->heap_sampled_bytes = bytes_of(row[ML_DIGEST_HEAP_SAMPLED]);
    return 0;
}

static int get_key(struct ml_digest *d, const struct ml_record *record)
{
    struct ml_digest_setting setting = {.value = ""};
    int r = get_text(d, record, &setting.key);

    return r < 0 ? r : ml_vec_push(&d->settings, setting);
}

static int get_value(struct ml_digest *d, const struct ml_record *record)
{
    if (d->settings.len == 0)
        return -EBADMSG;
    return get_text(d, record, &d->settings.items[d->settings.len - 1].value);
}

static int get_module(struct ml_digest *d, const struct ml_record *record)
{
    struct ml_digest_module module = {0};
    uint64_t parent;
    int r = get_named(d, record, &parent, 1, &module.path);

    if (r < 0)
        return r;
    if (parent >= d->modules.len || d->modules.len >= ML_DIGEST_MODULES_MAX)
        return -EBADMSG;
    module.parent = (uint32_t)parent;
    return ml_vec_push(&d->modules, module);
}

static int get_book(struct ml_digest *d, const struct ml_record *record)
{
    uint64_t n[ML_DIGEST_BOOK_FIELDS];
    struct ml_digest_book book = {0};
    int r = get_named(d, record, n, ML_DIGEST_BOOK_FIELDS, &book.device);

    if (r < 0)
        return r;
    book.sampled = n[ML_DIGEST_BOOK_SAMPLED];
    book.has_total = n[ML_DIGEST_BOOK_HAS_TOTAL];
    book.used_bytes = bytes_of(n[ML_DIGEST_BOOK_USED]);
    book.total_bytes = bytes_of(n[ML_DIGEST_BOOK_TOTAL]);
    book.unexplained_bytes = signed_bytes_of(n[ML_DIGEST_BOOK_UNEXPLAINED]);
    return ml_vec_push(&d->books, book);
}

static int get_entry(struct ml_digest *d, const struct ml_record *record)
{
    struct ml_digest_entry entry = {0};
    uint64_t bytes;
    int r = get_named(d, record, &bytes, 1, &entry.name);

    if (r < 0)
        return r;
    if (d->books.len == 0)
        return -EBADMSG;
    entry.bytes = signed_bytes_of(bytes);
    return ml_vec_push(&d->books.items[d->books.len - 1].entries, entry);
}

static int get_rank(struct ml_digest *d, const struct ml_record *record)
{
    uint64_t row[ML_DIGEST_RANK_FIELDS];
    struct ml_digest_rank rank = {.place = "", .command = ""};

    if (get_row(record, row, ML_DIGEST_RANK_FIELDS) < 0 ||
        row[ML_DIGEST_RANK_NUMBER] > UINT32_MAX || row[ML_DIGEST_RANK_ENDING] > ML_ENDING_UNKNOWN ||
        row[ML_DIGEST_RANK_STEPS_PER_ROW] == 0 || row[ML_DIGEST_RANK_STEPS_PER_ROW] > UINT32_MAX ||
        (row[ML_DIGEST_RANK_STEPS_PER_ROW] & (row[ML_DIGEST_RANK_STEPS_PER_ROW] - 1)))
        return -EBADMSG;
    rank.rank = (uint32_t)row[ML_DIGEST_RANK_NUMBER];
    rank.pid = (uint32_t)row[ML_DIGEST_RANK_PID];
    rank.processes = (uint32_t)row[ML_DIGEST_RANK_PROCESSES];
    rank.ending = (enum ml_ending)row[ML_DIGEST_RANK_ENDING];
    rank.exit_code = (uint32_t)row[ML_DIGEST_RANK_EXIT_CODE];
    rank.signal = (uint32_t)row[ML_DIGEST_RANK_SIGNAL];
    rank.start_ns = row[ML_DIGEST_RANK_START_NS];
    rank.end_ns = row[ML_DIGEST_RANK_END_NS];
    rank.ooms = row[ML_DIGEST_RANK_OOMS];
    rank.allocations = row[ML_DIGEST_RANK_ALLOCATIONS];
    rank.steps = row[ML_DIGEST_RANK_STEPS];
    rank.steps_per_row = row[ML_DIGEST_RANK_STEPS_PER_ROW];
    return ml_vec_push(&d->ranks, rank);
}

static int get_device(struct ml_digest *d, struct ml_digest_rank *rank,
                      const struct ml_record *record)
{
    struct ml_digest_device device = {0};
    uint64_t numbers[2];
    int r = get_named(d, record, numbers, 2, &device.name);

    if (r < 0)
        return r;
    device.peak_bytes = bytes_of(numbers[0]);
    device.peak_time_ns = numbers[1];
    return ml_vec_push(&rank->devices, device);
}

static int get_rows(struct ml_digest_rank *rank, const struct ml_record *record)
{
    uint64_t row[ML_DIGEST_ROW_FIELDS];
    struct ml_rows rows;
    int more = 0, r = ml_rows_open(record, &rows);

    if (r == 0 && (rank->rows.len > 0 || rows.left > ROWS_LIMIT))
        return -EBADMSG;
    while (r == 0 && (more = ml_rows_next(&rows, row, ML_DIGEST_ROW_FIELDS)) > 0)
        r = ml_vec_push(&rank->rows, (struct ml_digest_row){row[ML_DIGEST_ROW_NUMBER],
                                                            row[ML_DIGEST_ROW_BEGIN_NS],
                                                            row[ML_DIGEST_ROW_END_NS],
                                                            bytes_of(row[ML_DIGEST_ROW_PEAK]),
                                                            bytes_of(row[ML_DIGEST_ROW_END])});
    return r < 0 ? r : more;
}

static int get_cells(const struct ml_digest *d, struct ml_digest_rank *rank,
                     const struct ml_record *record)
{
    struct ml_rows rows;
    uint64_t row[2];
    int more = 0, r = ml_rows_open(record, &rows);

    if (rank->cells.len > 0)
        return -EBADMSG;
    while (r == 0 && (more = ml_rows_next(&rows, row, 2)) > 0) {
        if (row[0] >= d->modules.len || row[1] >= ML_CATEGORIES)
            return -EBADMSG;
        r = ml_vec_push(&rank->cells, (struct ml_digest_cell){(uint32_t)row[0], (uint32_t)row[1]});
    }
    return r < 0 ? r : more;
}

/* Lines of `stride` numbers, column by column, as differences. A number takes a byte or more. */
static int get_differences(const struct ml_record *record, size_t lines, size_t stride,
                           ml_numbers *ret)
{
    const uint8_t *in = record->in;
    size_t room = (size_t)(record->end - record->in);

    if (ret->len > 0 || stride == 0 || lines > room / stride)
        return -EBADMSG;
    if (ml_vec_reserve(ret, lines * stride) < 0)
        return -ENOMEM;
    ret->len = lines * stride;
    for (size_t column = 0; column < stride; column++) {
        uint64_t value = 0, difference;

        for (size_t i = 0; i < lines; i++) {
            in = ml_varint_get(in, record->end, &difference);
            if (!in)
                return -EBADMSG;
            value += (uint64_t)ml_unzigzag(difference);
            ret->items[i * stride + column] = bytes_of(value);
        }
    }
    return 0;
}

static int get_curve(struct ml_digest_rank *rank, const struct ml_record *record)
{
    const uint8_t *in = record->in;
    uint64_t skipped;
    size_t columns = 0;

    for (; in < record->end && columns <= ML_DIGEST_COLUMNS; columns++)
        if (!(in = ml_varint_get(in, record->end, &skipped)))
            return -EBADMSG;
    if (columns > ML_DIGEST_COLUMNS)
        return -EBADMSG;
    return columns ? get_differences(record, columns, 1, &rank->curve) : 0;
}

static int get_of_rank(struct ml_digest *d, const struct ml_record *record)
{
    struct ml_digest_rank *rank;

    if (d->ranks.len == 0)
        return -EBADMSG;
    rank = &d->ranks.items[d->ranks.len - 1];
    switch (record->tag) {
    case ML_DIGEST_PLACE: return get_text(d, record, &rank->place);
    case ML_DIGEST_RANK_COMMAND: return get_text(d, record, &rank->command);
    case ML_DIGEST_DEVICE: return get_device(d, rank, record);
    case ML_DIGEST_ROWS: return get_rows(rank, record);
    case ML_DIGEST_CELLS: return get_cells(d, rank, record);
    case ML_DIGEST_VALUES:
        return get_differences(record, 1 + rank->rows.len, rank->cells.len, &rank->values);
    default: return get_curve(rank, record);
    }
}

static int get_record(struct ml_digest *d, const struct ml_record *record)
{
    switch (record->tag) {
    case ML_DIGEST_FACTS: return get_facts(d, record);
    case ML_DIGEST_COMMAND: return get_text(d, record, &d->command);
    case ML_DIGEST_HOST: return get_text(d, record, &d->host);
    case ML_DIGEST_SETTING_KEY: return get_key(d, record);
    case ML_DIGEST_SETTING_VALUE: return get_value(d, record);
    case ML_DIGEST_MODULE: return get_module(d, record);
    case ML_DIGEST_BOOK: return get_book(d, record);
    case ML_DIGEST_ENTRY: return get_entry(d, record);
    case ML_DIGEST_RANK: return get_rank(d, record);
    default:
        return record->tag > ML_DIGEST_RANK && record->tag <= ML_DIGEST_CURVE
                   ? get_of_rank(d, record)
                   : 0;
    }
}

/* A rank whose matrix is missing, or whose rows came after it. */
static bool is_whole(const struct ml_digest_rank *rank)
{
    return rank->values.len == (rank->cells.len > 0 ? (1 + rank->rows.len) * rank->cells.len : 0);
}

static int get_all(struct ml_digest *d, const struct ml_buf *bytes)
{
    const uint8_t *in = bytes->data, *end = in + bytes->len;
    struct ml_record record;
    int more, r = ml_vec_push(&d->modules, (struct ml_digest_module){.path = ""});

    while (r == 0 && (more = ml_record_next(&in, end, &record)) != 0)
        r = more < 0 ? more : get_record(d, &record);
    for (size_t i = 0; r == 0 && i < d->ranks.len; i++)
        r = is_whole(&d->ranks.items[i]) ? 0 : -EBADMSG;
    return r;
}

static int explain(int r, struct ml_error *err)
{
    switch (r) {
    case 0: return 0;
    case -ENOENT: return ml_error_set(err, r, "contains no digest");
    case -ENOMEM: return ml_error_set(err, r, "out of memory");
    case -EPROTONOSUPPORT:
        return ml_error_set(err, r, "the digest is of a later version of memledger");
    default: return ml_error_set(err, r, "the digest is damaged; make it again from the trace");
    }
}

int ml_digest_get(const struct ml_trace *file, struct ml_digest *ret, struct ml_error *err)
{
    int64_t first = ml_trace_last_section(file, ML_BLOCK_DIGEST);
    struct ml_buf bytes = {0};
    int r;

    *ret = (struct ml_digest){0};
    if (first < 0)
        return explain((int)first, err);
    r = ml_trace_read_section(file, (size_t)first, ML_BLOCK_DIGEST, &bytes);
    if (r == 0)
        r = get_all(ret, &bytes);
    ml_buf_release(&bytes);
    return explain(r, err);
}
