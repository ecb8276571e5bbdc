/* ranks_text.c: a job and its ranks as text; see ranks_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "category_columns.h"
#include "cells.h"
#include "event_names.h"
#include "paragraph.h"
#include "ranks_report.h"
#include "shell_word.h"

#define STRIP_COLUMNS 64

static int put_head(const struct ml_ranks *ranks, const struct ml_style *style, struct ml_buf *out)
{
    int r = ml_report_origin(out, ranks->command ? ranks->command : "(unknown program)",
                             ranks->start_wall_ns, NULL);

    if (r == 0)
        r = ml_buf_puts(out, "\n");
    if (r == 0 && ranks->job)
        r = ml_buf_printf(out, "job %s: ", ranks->job);
    if (r == 0)
        r = ml_buf_printf(out, "%zu", ranks->rows.len);
    if (r == 0 && ranks->world_size)
        r = ml_buf_printf(out, " of %" PRIu64, ranks->world_size);
    if (r == 0)
        r = ml_buf_printf(out, " rank%s on %zu host%s, %" PRIu64 " step%s\n",
                          ranks->rows.len == 1 && ranks->world_size <= 1 ? "" : "s", ranks->hosts,
                          ranks->hosts == 1 ? "" : "s", ranks->steps, ranks->steps == 1 ? "" : "s");
    if (r == 0 && ranks->numbered)
        r = ml_report_warning(out, style, "no trace has a rank; they are numbered by name");
    if (r == 0 && ranks->other_jobs > 0)
        r = ml_report_warning(out, style,
                              "%zu file%s of other jobs left out; --job chooses another.",
                              ranks->other_jobs, ranks->other_jobs == 1 ? "" : "s");
    if (r == 0 && ranks->repeated > 0)
        r = ml_report_warning(out, style,
                              "%zu earlier trace%s of ranks that were started again left out.",
                              ranks->repeated, ranks->repeated == 1 ? "" : "s");
    return r;
}

/* ---- Peaks -------------------------------------------------------------------------- */

/* One sign for each rank, or for several; the highest peak of them, in eighths of the highest. */
static int put_strip(const struct ml_ranks *ranks, struct ml_buf *out)
{
    static const char *const levels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t count = ranks->rows.len, signs = count < STRIP_COLUMNS ? count : STRIP_COLUMNS;
    int r = ml_buf_puts(out, "  ");

    for (size_t i = 0; r == 0 && i < signs; i++) {
        uint64_t most = 0;
        size_t level;

        for (size_t n = i * count / signs; n < (i + 1) * count / signs; n++)
            most = ml_max_u64(most, ranks->rows.items[n].peak_bytes);
        level = ranks->peak_most_bytes
                    ? (size_t)((double)most / (double)ranks->peak_most_bytes * 7.999)
                    : 0;
        r = ml_buf_puts(out, levels[level]);
    }
    return r < 0 ? r
                 : ml_buf_printf(out, "  rank %" PRIu32 " to %" PRIu32 "\n",
                                 ranks->rows.items[0].rank, ranks->rows.items[count - 1].rank);
}

static int put_peaks(const struct ml_ranks *ranks, const struct ml_style *style, struct ml_buf *out)
{
    int r = ml_report_heading(out, style, "Peaks");

    if (r == 0)
        r = ml_buf_printf(out,
                          "  mean %s, highest %s (rank %" PRIu32 ", +%.1f %%), lowest %s (rank "
                          "%" PRIu32 "), all together %s\n",
                          ml_report_size(style, ranks->peak_mean_bytes).text,
                          ml_report_size(style, ranks->peak_most_bytes).text,
                          ranks->rows.items[ranks->most_row].rank, ranks->imbalance_percent,
                          ml_report_size(style, ranks->peak_least_bytes).text,
                          ranks->rows.items[ranks->least_row].rank,
                          ml_report_size(style, ranks->peak_sum_bytes).text);
    if (r == 0 && ranks->rows.len > 1)
        r = put_strip(ranks, out);
    if (r == 0 && ranks->nearest_row != SIZE_MAX) {
        const struct ml_rank_row *row = &ranks->rows.items[ranks->nearest_row];
        char headroom[32];

        r = ml_buf_printf(out, "  nearest to its limit: rank %" PRIu32 ", %s left of %s on %s\n",
                          row->rank, ml_format_bytes(headroom, row->headroom_bytes, style->unit),
                          ml_report_size(style, row->limit_bytes).text, row->device);
    }
    return r;
}

static int put_groups(const struct ml_ranks *ranks, const struct ml_style *style,
                      struct ml_buf *out)
{
    static const char *const titles[] = {"peers",   ">ranks",   ">median peak",
                                         ">lowest", ">highest", ">differs beyond"};
    struct ml_table t;
    int r;

    if (ranks->groups.len < 2)
        return 0;
    r = ml_report_heading(out, style, "Peers: ranks that should use the same memory");
    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < ranks->groups.len; i++) {
        const struct ml_rank_group *g = &ranks->groups.items[i];

        ml_table_cell(&t, *g->name ? g->name : "others");
        ml_cells_count(&t, g->count);
        ml_cells_bytes(&t, style, g->median_bytes);
        ml_cells_bytes(&t, style, g->least_bytes);
        ml_cells_bytes(&t, style, g->most_bytes);
        ml_table_cellf(&t, "+/- %s", ml_report_size(style, g->allowed_bytes).text);
    }
    return ml_cells_print(&t, r, out, style);
}

/* ---- Findings ------------------------------------------------------------------------ */

static int put_findings(const struct ml_ranks *ranks, const struct ml_style *style,
                        struct ml_buf *out)
{
    int r = ml_report_heading(out, style, "Findings");

    if (r == 0 && ranks->findings.len == 0)
        r = ml_buf_puts(out, "  none: no rank differs from its peers, leaks, failed or is "
                             "missing\n");
    for (size_t i = 0; r == 0 && i < ranks->findings.len; i++) {
        struct ml_buf words = {0};

        r = ml_rank_finding_words(&ranks->findings.items[i], style, &words);
        if (r == 0)
            r = ml_buf_puts(out, "  ");
        if (r == 0)
            r = ml_report_paragraph(out, style, 4, (const char *)words.data);
        ml_buf_release(&words);
    }
    return r;
}

/* ---- The table ------------------------------------------------------------------------ */

static int furthest_first(const void *a, const void *b)
{
    const struct ml_rank_row *x = *(const struct ml_rank_row *const *)a,
                             *y = *(const struct ml_rank_row *const *)b;
    int64_t dx = llabs(x->above_bytes), dy = llabs(y->above_bytes);

    if ((x->growth_bytes > 0) != (y->growth_bytes > 0))
        return x->growth_bytes > 0 ? -1 : 1;
    if (dx != dy)
        return dx > dy ? -1 : 1;
    return x->rank < y->rank ? -1 : 1;
}

static void put_row(struct ml_table *t, const struct ml_rank_row *row, const struct ml_style *style)
{
    char bytes[32];

    ml_table_cellf(t, "%" PRIu32, row->rank);
    ml_table_cell(t, row->host);
    ml_table_cell(t, row->device);
    ml_cells_bytes(t, style, row->peak_bytes);
    ml_table_cellf(t, "%s%s", row->above_bytes > 0 ? "+" : "",
                   row->above_bytes ? ml_format_bytes(bytes, row->above_bytes, style->unit) : "");
    ml_table_cell(t,
                  row->has_limit ? ml_format_bytes(bytes, row->headroom_bytes, style->unit) : "");
    ml_table_cell(t, row->growth_bytes ? ml_report_size(style, row->growth_bytes).text : "");
    ml_cells_count(t, row->of->steps);
    if (row->of->ending == ML_ENDING_SIGNAL)
        ml_table_cellf(t, "signal %" PRIu32, row->of->signal);
    else if (row->of->ending == ML_ENDING_EXIT && row->of->exit_code)
        ml_table_cellf(t, "exit %" PRIu32, row->of->exit_code);
    else
        ml_table_cell(t, ml_ending_name(row->of->ending));
}

static int put_table(const struct ml_ranks *ranks, size_t top, const struct ml_style *style,
                     struct ml_buf *out)
{
    static const char *const titles[] = {">rank",     "host",        "device", ">peak", ">to peers",
                                         ">headroom", ">grows/step", ">steps", "ended"};
    size_t shown = top < ranks->rows.len ? top : ranks->rows.len;
    const struct ml_rank_row **order = calloc(ranks->rows.len, sizeof(const struct ml_rank_row *));
    struct ml_table t;
    int r;

    if (!order)
        return -ENOMEM;
    for (size_t i = 0; i < ranks->rows.len; i++)
        order[i] = &ranks->rows.items[i];
    qsort(order, ranks->rows.len, sizeof(const struct ml_rank_row *), furthest_first);
    r = shown == ranks->rows.len
            ? ml_report_heading(out, style, "Ranks, furthest from their peers first")
            : ml_report_heading(out, style, "The %zu ranks furthest from their peers, of %zu",
                                shown, ranks->rows.len);
    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < shown; i++)
        put_row(&t, order[i], style);
    free(order);
    return ml_cells_print(&t, r, out, style);
}

/* ---- The ledger ------------------------------------------------------------------------ */

static int put_categories(const struct ml_ranks *ranks, const struct ml_style *style,
                          struct ml_buf *out)
{
    static const char *const titles[] = {"category", ">all ranks", ">mean", ">share"};
    struct ml_table t;
    int r = ml_report_heading(out, style, "Memory of the job, each rank at its own peak");

    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < ML_CATEGORIES; i++) {
        uint64_t bytes = ranks->category_bytes[ml_category_order[i]];

        if (bytes == 0)
            continue;
        ml_table_cell(&t, ml_category_name(ml_category_order[i]));
        ml_cells_bytes(&t, style, bytes);
        ml_cells_bytes(&t, style, bytes / ranks->rows.len);
        ml_cells_percent(&t, 100.0 * (double)bytes / (double)ranks->peak_sum_bytes);
    }
    return ml_cells_print(&t, r, out, style);
}

static int put_ledger(const struct ml_ranks *ranks, const struct ml_style *style,
                      struct ml_buf *out)
{
    char bytes[32];
    int r = ranks->has_ledger ? ml_buf_printf(out, "  used on all GPUs: %s",
                                              ml_report_size(style, ranks->used_bytes).text)
                              : 0;

    if (!ranks->has_ledger)
        return 0;
    if (r == 0 && ranks->total_bytes > 0)
        r = ml_buf_printf(out, " of %s", ml_report_size(style, ranks->total_bytes).text);
    for (size_t i = 0; r == 0 && i < ranks->ledger.len; i++)
        r = ml_buf_printf(out, "; %s %s", ranks->ledger.items[i].name,
                          ml_format_bytes(bytes, ranks->ledger.items[i].bytes, style->unit));
    return r < 0 ? r
                 : ml_buf_printf(out, "; unexplained %s\n",
                                 ml_format_bytes(bytes, ranks->unexplained_bytes, style->unit));
}

static int put_clocks(const struct ml_ranks *ranks, struct ml_buf *out)
{
    const struct ml_rank_clock *fast = NULL, *slow = NULL;
    uint64_t apart_ns;
    char apart[32];

    for (size_t i = 0; i < ranks->clocks.len; i++) {
        const struct ml_rank_clock *clock = &ranks->clocks.items[i];

        fast = !fast || clock->ahead_ns > fast->ahead_ns ? clock : fast;
        slow = !slow || clock->ahead_ns < slow->ahead_ns ? clock : slow;
    }
    if (!fast || fast == slow)
        return 0;
    apart_ns = (uint64_t)fast->ahead_ns - (uint64_t)slow->ahead_ns;
    return ml_buf_printf(
        out, "\nClocks, by the start of common steps: %s is %s ahead of %s.\n", fast->host,
        ml_format_duration_ns(apart, (int64_t)ml_min_u64(apart_ns, INT64_MAX)), slow->host);
}

/* Where digests were collected, the traces stay on their hosts. */
static int put_copy(const struct ml_rank_row *row, struct ml_buf *out)
{
    const char *slash = strrchr(row->source->file, '/');

    return ml_buf_printf(out, "copy its trace, %s%s%s, to this folder, then\n  ",
                         slash ? slash + 1 : row->source->file, *row->host ? ", from host " : "",
                         row->host);
}

/* The rank that most deserves a look. */
static int put_next(const struct ml_ranks *ranks, struct ml_buf *out)
{
    size_t row = ranks->most_row;
    struct ml_buf word = {0};
    int r;

    for (size_t i = 0; i < ranks->findings.len; i++)
        if (ranks->findings.items[i].worst_row != SIZE_MAX) {
            row = ranks->findings.items[i].worst_row;
            break;
        }
    r = ml_buf_printf(out, "\nNext, rank %" PRIu32 ": ", ranks->rows.items[row].rank);
    if (r == 0 && ranks->rows.items[row].source->is_elsewhere)
        r = put_copy(&ranks->rows.items[row], out);
    if (r == 0)
        r = ml_buf_printf(out, "memledger view %s\n",
                          ml_shell_word(&word, ranks->rows.items[row].source->file));
    ml_buf_release(&word);
    return r;
}

int ml_ranks_text(const struct ml_ranks *ranks, size_t top, const struct ml_style *style,
                  struct ml_buf *out)
{
    int r = put_head(ranks, style, out);

    if (r == 0)
        r = put_peaks(ranks, style, out);
    if (r == 0)
        r = put_findings(ranks, style, out);
    if (r == 0)
        r = put_groups(ranks, style, out);
    if (r == 0)
        r = put_table(ranks, top, style, out);
    if (r == 0)
        r = put_categories(ranks, style, out);
    if (r == 0)
        r = put_ledger(ranks, style, out);
    if (r == 0)
        r = put_clocks(ranks, out);
    return r < 0 ? r : put_next(ranks, out);
}
