/* ranks.c: see ranks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ranks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memledger/memledger.h"
#include "rank_parts.h"
#include "slice.h"

/* ---- Which ranks ------------------------------------------------------------------ */

static struct ml_slice job_of(const struct ml_digest_rank *rank)
{
    const char *at = rank->place;
    struct ml_slice key, value;

    while (ml_place_next(&at, &key.text, &key.len, &value.text, &value.len))
        if (ml_slice_is(key, "job"))
            return value;
    return (struct ml_slice){"", 0};
}

static bool same_text(struct ml_slice a, struct ml_slice b)
{
    return a.len == b.len && memcmp(a.text, b.text, a.len) == 0;
}

static bool any_ranks(const struct ml_rank_source *sources, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t n = 0; n < sources[i].digest->ranks.len; n++)
            if (sources[i].digest->ranks.items[n].rank > 0)
                return true;
    return false;
}

/* The job that began last. */
static struct ml_slice latest_job(const struct ml_rank_source *sources, size_t count)
{
    struct ml_slice latest = {"", 0};
    uint64_t wall_ns = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t n = 0; n < sources[i].digest->ranks.len; n++)
            if (sources[i].digest->ranks.items[n].rank > 0 &&
                sources[i].digest->start_wall_ns >= wall_ns) {
                wall_ns = sources[i].digest->start_wall_ns;
                latest = job_of(&sources[i].digest->ranks.items[n]);
            }
    return latest;
}

/* Samples contain malloc's blocks, which have no other category. The variance of an estimate is at
 * most the sampled bytes times the distance of two samples. */
static uint64_t sampling_error(const struct ml_digest *digest, const struct ml_digest_rank *of)
{
    double other = 0;

    for (size_t i = 0; digest->heap_sampled_bytes && i < of->cells.len; i++)
        if (of->cells.items[i].category == MEMLEDGER_OTHER)
            other += (double)ml_digest_values(of, 0)[i];
    return (uint64_t)sqrt(other * (double)digest->heap_sampled_bytes);
}

static int add_row(struct ml_ranks *ranks, const struct ml_rank_source *source,
                   const struct ml_digest_rank *of)
{
    struct ml_rank_row row = {.source = source, .of = of, .device = "", .host = ""};

    row.rank = ranks->numbered ? (uint32_t)ranks->rows.len : of->rank - 1;
    if (source->digest->host)
        row.host = source->digest->host;
    if (of->devices.len > 0) {
        row.device = of->devices.items[0].name;
        row.peak_bytes = of->devices.items[0].peak_bytes;
        row.error_bytes = strcmp(row.device, "cpu") == 0 ? sampling_error(source->digest, of) : 0;
    }
    return ml_vec_push(&ranks->rows, row);
}

static int by_rank(const void *a, const void *b)
{
    const struct ml_rank_row *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->source->digest->start_wall_ns != y->source->digest->start_wall_ns)
        return x->source->digest->start_wall_ns < y->source->digest->start_wall_ns ? -1 : 1;
    return 0;
}

/* A rank that was started again has several traces: the last one counts. */
static void drop_repeated(struct ml_ranks *ranks)
{
    struct ml_rank_row *rows = ranks->rows.items;
    size_t kept = 0;

    for (size_t i = 0; i < ranks->rows.len; i++)
        if (i + 1 < ranks->rows.len && rows[i].rank == rows[i + 1].rank)
            ranks->repeated++;
        else
            rows[kept++] = rows[i];
    ranks->rows.len = kept;
}

static int add_rows(struct ml_ranks *ranks, const struct ml_rank_source *sources, size_t count,
                    struct ml_slice job)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        bool other = false;

        for (size_t n = 0; r == 0 && n < sources[i].digest->ranks.len; n++) {
            const struct ml_digest_rank *of = &sources[i].digest->ranks.items[n];

            if (!ranks->numbered && of->rank == 0)
                continue;
            if (!ranks->numbered && !same_text(job_of(of), job))
                other = true;
            else
                r = add_row(ranks, &sources[i], of);
        }
        ranks->other_jobs += other;
    }
    ml_vec_sort(&ranks->rows, by_rank);
    drop_repeated(ranks);
    return r;
}

/* ---- Limits ----------------------------------------------------------------------- */

static const struct ml_digest_book *book_of(const struct ml_rank_row *row)
{
    const struct ml_digest *digest = row->source->digest;

    for (size_t i = 0; i < digest->books.len; i++)
        if (strcmp(digest->books.items[i].device, row->device) == 0)
            return &digest->books.items[i];
    return NULL;
}

/* The driver's figure contains everything on the device; without one, the rank's own peak. On the
 * host the limit is that of the control group, for all processes of the trace together. */
static void find_limit(struct ml_rank_row *row)
{
    const struct ml_digest_book *book = book_of(row);
    bool host = strcmp(row->device, "cpu") == 0;
    uint64_t used = row->peak_bytes;

    if (host && row->source->digest->memory_limit_bytes > 0)
        row->limit_bytes = row->source->digest->memory_limit_bytes;
    else if (!host && book && book->has_total)
        row->limit_bytes = book->total_bytes;
    row->has_limit = row->limit_bytes > 0;
    if (book && book->sampled && book->used_bytes > used)
        used = book->used_bytes;
    if (row->has_limit)
        row->headroom_bytes = (int64_t)(row->limit_bytes - used);
}

static void find_limits(struct ml_ranks *ranks)
{
    ranks->nearest_row = SIZE_MAX;
    for (size_t i = 0; i < ranks->rows.len; i++) {
        struct ml_rank_row *row = &ranks->rows.items[i];

        find_limit(row);
        if (row->has_limit &&
            (ranks->nearest_row == SIZE_MAX ||
             row->headroom_bytes < ranks->rows.items[ranks->nearest_row].headroom_bytes))
            ranks->nearest_row = i;
    }
}

/* ---- The whole job ---------------------------------------------------------------- */

static uint64_t world_size_of(const struct ml_ranks *ranks)
{
    uint64_t most = 0, size;

    for (size_t i = 0; i < ranks->rows.len; i++)
        if (ml_place_number(ranks->rows.items[i].of->place, "world_size", &size) &&
            size <= UINT64_C(1) << 20)
            most = ml_max_u64(most, size);
    return ranks->numbered ? 0 : most;
}

static size_t count_hosts(const struct ml_ranks *ranks)
{
    struct ml_intern hosts = {0};
    size_t count;

    for (size_t i = 0; i < ranks->rows.len; i++)
        ml_intern_put(&hosts, ranks->rows.items[i].host, strlen(ranks->rows.items[i].host), NULL);
    count = ml_intern_len(&hosts);
    ml_intern_release(&hosts);
    return count;
}

static void add_categories(struct ml_ranks *ranks, const struct ml_digest_rank *of)
{
    for (size_t i = 0; i < of->cells.len; i++)
        ranks->category_bytes[of->cells.items[i].category] += ml_digest_values(of, 0)[i];
}

static void add_up(struct ml_ranks *ranks)
{
    struct ml_rank_row *rows = ranks->rows.items;

    for (size_t i = 0; i < ranks->rows.len; i++) {
        ranks->peak_sum_bytes += rows[i].peak_bytes;
        if (rows[i].peak_bytes > rows[ranks->most_row].peak_bytes)
            ranks->most_row = i;
        if (rows[i].peak_bytes < rows[ranks->least_row].peak_bytes)
            ranks->least_row = i;
        ranks->steps = ml_max_u64(ranks->steps, rows[i].of->steps);
        ranks->steps_per_column = ml_max_u64(ranks->steps_per_column, rows[i].of->steps_per_row);
        add_categories(ranks, rows[i].of);
    }
    ranks->peak_mean_bytes = ranks->peak_sum_bytes / ranks->rows.len;
    ranks->peak_most_bytes = rows[ranks->most_row].peak_bytes;
    ranks->peak_least_bytes = rows[ranks->least_row].peak_bytes;
    if (ranks->peak_mean_bytes > 0)
        ranks->imbalance_percent =
            100.0 * ((double)ranks->peak_most_bytes / (double)ranks->peak_mean_bytes - 1);
    ranks->columns =
        (size_t)((ranks->steps + ranks->steps_per_column - 1) / ranks->steps_per_column);
}

static int add_entry(struct ml_ranks *ranks, const struct ml_digest_entry *entry)
{
    for (size_t i = 0; i < ranks->ledger.len; i++)
        if (strcmp(ranks->ledger.items[i].name, entry->name) == 0) {
            ranks->ledger.items[i].bytes += entry->bytes;
            return 0;
        }
    return ml_vec_push(&ranks->ledger, (struct ml_rank_entry){entry->name, entry->bytes});
}

static int add_books(struct ml_ranks *ranks, const struct ml_digest *digest)
{
    int r = 0;

    for (size_t i = 0; i < digest->books.len; i++) {
        const struct ml_digest_book *book = &digest->books.items[i];

        if (!book->sampled || strcmp(book->device, "cpu") == 0)
            continue;
        ranks->has_ledger = true;
        ranks->used_bytes += book->used_bytes;
        ranks->total_bytes += book->total_bytes;
        ranks->unexplained_bytes += book->unexplained_bytes;
        for (size_t n = 0; r == 0 && n < book->entries.len; n++)
            r = add_entry(ranks, &book->entries.items[n]);
    }
    return r;
}

/* The books of each trace once, however many ranks it has. */
static int add_ledger(struct ml_ranks *ranks, const struct ml_rank_source *sources, size_t count)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        bool counts = false;

        for (size_t n = 0; n < ranks->rows.len && !counts; n++)
            counts = ranks->rows.items[n].source == &sources[i];
        if (counts)
            r = add_books(ranks, sources[i].digest);
    }
    return r;
}

static int add_names(struct ml_ranks *ranks, struct ml_slice job)
{
    const struct ml_rank_row *first = &ranks->rows.items[0];

    ranks->command = first->source->digest->command;
    ranks->start_wall_ns = first->source->digest->start_wall_ns;
    for (size_t i = 1; i < ranks->rows.len; i++)
        ranks->start_wall_ns =
            ml_min_u64(ranks->start_wall_ns, ranks->rows.items[i].source->digest->start_wall_ns);
    if (job.len > 0 && !(ranks->job = ml_arena_dup(&ranks->arena, job.text, job.len)))
        return -ENOMEM;
    return 0;
}

/* ---- Interface ---------------------------------------------------------------------- */

static int judge(struct ml_ranks *ranks)
{
    struct ml_rank_modules modules;
    int r = ml_rank_modules_init(&modules, ranks);

    if (r == 0)
        r = ml_rank_peers(ranks, &modules);
    if (r == 0)
        r = ml_rank_growth(ranks);
    if (r == 0)
        r = ml_rank_findings(ranks, &modules);
    ml_rank_modules_release(&modules);
    if (r == 0)
        r = ml_rank_merge(ranks);
    return r < 0 ? r : ml_rank_clocks(ranks);
}

int ml_ranks(const struct ml_rank_source *sources, size_t count, const char *job,
             struct ml_ranks *ret, struct ml_error *err)
{
    struct ml_slice wanted;
    int r;

    *ret = (struct ml_ranks){0};
    ret->numbered = !any_ranks(sources, count);
    wanted = job ? (struct ml_slice){job, strlen(job)} : latest_job(sources, count);
    r = add_rows(ret, sources, count, wanted);
    if (r == 0 && ret->rows.len == 0)
        return ml_error_set(err, -ENODATA, "no trace belongs to the job '%s'", job ? job : "");
    if (r == 0) {
        ret->world_size = world_size_of(ret);
        ret->hosts = count_hosts(ret);
        add_up(ret);
        find_limits(ret);
        r = add_names(ret, wanted);
    }
    if (r == 0)
        r = add_ledger(ret, sources, count);
    if (r == 0)
        r = judge(ret);
    return r < 0 ? ml_error_set(err, r, "out of memory") : 0;
}

void ml_ranks_release(struct ml_ranks *ranks)
{
    for (size_t i = 0; i < ranks->findings.len; i++)
        ml_vec_release(&ranks->findings.items[i].ranks);
    ml_vec_release(&ranks->findings);
    ml_vec_release(&ranks->rows);
    ml_vec_release(&ranks->groups);
    ml_vec_release(&ranks->ledger);
    ml_vec_release(&ranks->clocks);
    ml_arena_release(&ranks->arena);
}

uint64_t ml_ranks_cell(const struct ml_ranks *ranks, size_t row, size_t column)
{
    const struct ml_digest_rank *of = ranks->rows.items[row].of;
    size_t each = (size_t)(ranks->steps_per_column / of->steps_per_row);
    uint64_t most = 0;

    for (size_t i = column * each; i < (column + 1) * each && i < of->rows.len; i++)
        most = ml_max_u64(most, of->rows.items[i].peak_bytes);
    return most;
}
