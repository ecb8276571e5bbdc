/* leaks_text.c: see leaks_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "leaks_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "breakdown_report.h"
#include "cells.h"
#include "health_report.h"
#include "paragraph.h"
#include "snapshot_report.h"
#include "stack_report.h"

#define STACKS_SHOWN 3
#define FRAMES_SHOWN 8

const char *ml_leaks_unit_word(const struct ml_leaks *leaks)
{
    return leaks->unit == ML_LEAK_BY_STEP ? "step" : "slice";
}

static uint64_t found_in_all(const struct ml_leaks *leaks)
{
    uint64_t found = 0;

    for (size_t i = 0; i < ML_LEAK_SIGNS; i++)
        found += leaks->found[i];
    return found;
}

/* A part of a byte is rounded, halves up, as everywhere. */
static const char *format_growth(char buf[32], double bytes, const struct ml_style *style)
{
    return ml_format_bytes(buf, llround(bytes), style->unit);
}

#define ENDS_LEFT_OUT "; the first and the last, where a program starts and ends, are left out."

/* How the run was cut into slices, if it has no steps, and which process is shown. */
static int put_method(const struct ml_leaks *l, const struct ml_style *style, struct ml_buf *out)
{
    char count[32], text[320] = "";
    int r = 0;

    ml_format_count(count, (int64_t)l->slices);
    if (l->unit == ML_LEAK_BY_TIME)
        snprintf(text, sizeof(text),
                 "The run is cut into %s slices of equal time" ENDS_LEFT_OUT
                 " Growth from one to the next may be intended. memledger run marks steps for "
                 "PyTorch and MXNet, memledger_step(n) in other programs.",
                 count);
    else if (l->unit == ML_LEAK_BY_EVENTS && ml_health_no_times(&l->at.instant.health))
        snprintf(text, sizeof(text),
                 "The trace has neither steps nor times: it is cut into %s slices of equally many "
                 "events" ENDS_LEFT_OUT,
                 count);
    else if (l->unit == ML_LEAK_BY_EVENTS)
        snprintf(text, sizeof(text),
                 "The trace has no steps, and everything was allocated at one time: it is cut into "
                 "%s slices of equally many events" ENDS_LEFT_OUT,
                 count);
    if (*text)
        r = ml_report_paragraph(out, style, 0, text);
    if (r == 0 && l->other_pids.len > 0)
        r = ml_buf_printf(out,
                          "%" PRIu32 " processes mark steps, and one is shown; --process chooses "
                          "another.\n",
                          (uint32_t)l->other_pids.len + 1);
    return r;
}

/* Why no step is left to compare, and what helps. */
static int put_too_few(const struct ml_leaks *l, struct ml_buf *out)
{
    const char *word = ml_leaks_unit_word(l);
    char count[32];

    if (l->steps == 0)
        return ml_buf_printf(out,
                             "There is nothing to compare: no %s was recorded to its end. "
                             "--slices cuts the run by time.\n",
                             word);
    ml_format_count(count, (int64_t)l->steps);
    if (l->steps == 1)
        return ml_buf_printf(out,
                             "There is nothing to compare: 1 %s was recorded and is warm-up; "
                             "lower --warm-up.\n",
                             word);
    return ml_buf_printf(out,
                         "There is nothing to compare: %s %ss were recorded and all are warm-up; "
                         "lower --warm-up.\n",
                         count, word);
}

/* Live memory is larger at the end, but not because a group grew from step to step. */
static bool only_rose(const struct ml_leaks *l)
{
    return l->to_bytes > l->from_bytes && found_in_all(l) == 0;
}

/* An average would suggest growth in every step where there was none. */
static int put_change(const struct ml_leaks *l, const struct ml_style *style, struct ml_buf *out)
{
    char change[32];

    if (only_rose(l))
        return ml_buf_printf(
            out, "+%s in all\n",
            ml_format_bytes(change, (int64_t)(l->to_bytes - l->from_bytes), style->unit));
    return ml_buf_printf(out, "%s%s a %s\n", l->bytes_per_step > 0 ? "+" : "",
                         format_growth(change, l->bytes_per_step, style), ml_leaks_unit_word(l));
}

/* "10 steps, 2 to 11; 2 before them are warm-up", and how live memory changed in them. */
static int put_range(const struct ml_leaks *l, const struct ml_style *style, struct ml_buf *out)
{
    const char *word = ml_leaks_unit_word(l);
    char from[32], to[32], count[32];
    int r;

    if (l->measured == 0)
        return put_too_few(l, out);
    r = ml_buf_printf(out, "%s %s%s, %" PRIu64 " to %" PRIu64,
                      ml_format_count(count, (int64_t)l->measured), word,
                      l->measured == 1 ? "" : "s", l->first_number, l->last_number);
    if (r == 0 && l->paused > 0)
        r = ml_buf_printf(out, ", and %" PRIu64 " between them while the recording was paused",
                          l->paused);
    if (r == 0 && l->warm_up > 0)
        r = ml_buf_printf(out, "; %" PRIu64 " before %s warm-up", l->warm_up,
                          l->warm_up == 1 ? "is" : "are");
    if (r == 0)
        r = ml_buf_printf(out, "\nlive %s before them, %s after: ",
                          ml_format_bytes(from, (int64_t)l->from_bytes, style->unit),
                          ml_format_bytes(to, (int64_t)l->to_bytes, style->unit));
    return r < 0 ? r : put_change(l, style, out);
}

static void name_cells(struct ml_table *t, const struct ml_leaks *l, const char *const *names)
{
    for (size_t i = 0; i < l->by_count; i++)
        if (names[i][0])
            ml_table_cell(t, names[i]);
        else
            ml_table_cellf(t, "(no %s)", ml_key_name(l->by[i]));
}

static void leak_row(struct ml_table *t, const struct ml_leaks *l, const struct ml_style *style,
                     const struct ml_leak *leak)
{
    char bytes[32];

    ml_table_cellf(t, "+%s", format_growth(bytes, leak->bytes_per_step, style));
    ml_table_cellf(t, "%+.*f", leak->grown_blocks % (int64_t)ml_leaks_all_steps(l) == 0 ? 0 : 2,
                   round(100 * leak->blocks_per_step) / 100);
    ml_table_cellf(t, "%" PRIu64 "/%" PRIu64, leak->grew, l->measured);
    ml_cells_bytes(t, style, leak->live_bytes);
    if (ml_leaks_know_left(l))
        ml_cells_bytes(t, style, leak->left_bytes);
    ml_table_cell(t, ml_leak_sign_name(leak->sign));
    name_cells(t, l, leak->names);
}

static int put_leaks(const struct ml_leaks *l, const char *heading, const struct ml_style *style,
                     struct ml_buf *out)
{
    uint64_t found = found_in_all(l);
    char title[32];
    struct ml_table t;
    int r = ml_report_heading(out, style, "%s", heading);

    snprintf(title, sizeof(title), "bytes/%s", ml_leaks_unit_word(l));
    ml_table_init(&t);
    ml_table_column(&t, title, ML_RIGHT);
    ml_table_column(&t, "blocks", ML_RIGHT);
    ml_table_column(&t, "grew in", ML_RIGHT);
    ml_table_column(&t, "live", ML_RIGHT);
    if (ml_leaks_know_left(l))
        ml_table_column(&t, "never freed", ML_RIGHT);
    ml_table_column(&t, "sign", ML_LEFT);
    for (size_t i = 0; i < l->by_count; i++)
        ml_key_column(&t, l->by[i]);
    for (size_t i = 0; i < l->list.len; i++)
        leak_row(&t, l, style, &l->list.items[i]);
    r = ml_cells_print(&t, r, out, style);
    if (r == 0 && found > l->list.len)
        r = ml_buf_printf(out, "%" PRIu64 " more %s not listed; --top lists them.\n",
                          found - l->list.len, found - l->list.len == 1 ? "is" : "are");
    return r;
}

static int put_no_leaks(const struct ml_leaks *l, const struct ml_style *style, struct ml_buf *out)
{
    const char *word = ml_leaks_unit_word(l);
    const char *where = l->other_pids.len ? " in the process that is shown" : "";
    char rise[32], text[256];
    int r = ml_buf_puts(out, "\n");

    ml_format_bytes(rise, (int64_t)(l->to_bytes - l->from_bytes), style->unit);
    if (only_rose(l))
        snprintf(text, sizeof(text),
                 "Nothing grows from %s to %s%s: live memory rose by %s, but it did not keep "
                 "rising.",
                 word, word, where, rise);
    else
        snprintf(text, sizeof(text), "Nothing grows from %s to %s%s.", word, word, where);
    return r < 0 ? r : ml_report_paragraph(out, style, 0, text);
}

static int put_left_heading(const struct ml_leaks *l, const struct ml_style *style,
                            struct ml_buf *out)
{
    char bytes[32], blocks[32], groups[80] = "";

    if (l->left_groups > l->left.len)
        snprintf(groups, sizeof(groups), " (the largest %zu of %" PRIu64 " groups)", l->left.len,
                 l->left_groups);
    return ml_report_heading(out, style, "Never freed: %s in %s block%s%s",
                             ml_format_bytes(bytes, (int64_t)l->left_bytes, style->unit),
                             ml_format_count(blocks, (int64_t)l->left_blocks),
                             l->left_blocks == 1 ? "" : "s", groups);
}

/* The memory that a run without steps left behind need not have grown. */
static int put_left(const struct ml_leaks *l, const struct ml_style *style, struct ml_buf *out)
{
    static const char *const titles[] = {">bytes", ">blocks"};
    struct ml_table t;
    int r;

    if (l->left_blocks == 0)
        return 0;
    r = put_left_heading(l, style, out);
    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < l->by_count; i++)
        ml_key_column(&t, l->by[i]);
    for (size_t i = 0; i < l->left.len; i++) {
        ml_cells_bytes(&t, style, l->left.items[i].bytes);
        ml_cells_count(&t, l->left.items[i].blocks);
        name_cells(&t, l, l->left.items[i].names);
    }
    r = ml_cells_print(&t, r, out, style);
    return r < 0
               ? r
               : ml_report_paragraph(out, style, 0,
                                     "memledger leaks --never-freed lists them by stack, memledger "
                                     "table --of leaked by any key.");
}

/* The stacks of the first few. */
static int put_stacks(const struct ml_leaks *l, const struct ml_style *style, struct ml_buf *out)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < l->list.len && i < STACKS_SHOWN; i++) {
        const struct ml_leak *leak = &l->list.items[i];
        char bytes[32];

        if (leak->stack.frames.len == 0)
            continue;
        r = ml_report_heading(out, style, "Stack of +%s a %s",
                              format_growth(bytes, leak->bytes_per_step, style),
                              ml_leaks_unit_word(l));
        if (r == 0)
            r = ml_stack_text(&leak->stack, "  ", FRAMES_SHOWN, style, out);
    }
    return r;
}

/* Data that a program collects until it is done, and a leak of a server that ends cleanly, look the
 * same. */
static int put_fate(const struct ml_leaks *l, const struct ml_style *style, struct ml_buf *out)
{
    char left[32], text[320];
    int r;

    if (!ml_leaks_know_left(l))
        return 0;
    if (l->found_left_bytes == 0)
        snprintf(text, sizeof(text),
                 "All of this was freed before the program ended. A program that collects data "
                 "until it is done looks like this, and so does a server that keeps too much and "
                 "ends cleanly. ");
    else
        snprintf(text, sizeof(text), "%s of this growth was never freed. ",
                 ml_format_bytes(left, (int64_t)l->found_left_bytes, style->unit));
    if (l->left_blocks > 0)
        strncat(text, "memledger leaks --never-freed lists what was never freed, by stack.",
                sizeof(text) - strlen(text) - 1);
    r = ml_buf_puts(out, "\n");
    return r < 0 ? r : ml_report_paragraph(out, style, 0, text);
}

/* How to see where, or why that cannot be seen, if no leak that is listed has a stack. */
static int put_hint(const struct ml_leaks *l, const struct ml_style *style, struct ml_buf *out)
{
    char text[160];

    for (size_t i = 0; i < l->list.len; i++)
        if (l->list.items[i].stack.frames.len > 0)
            return 0;
    if (l->at.instant.health.imported_from[0])
        return 0;
    snprintf(text, sizeof(text), "None of these has a stack: %s%s.",
             ml_stackless_text(l->stackless),
             l->stackless == ML_STACKLESS_NOT_ASKED
                 ? " to see which lines allocate blocks of PyTorch and MXNet"
                 : "");
    return ml_report_paragraph(out, style, 0, text);
}

/* What grows in the time after the last step. */
static int put_after(const struct ml_leaks *l, const struct ml_style *style, struct ml_buf *out)
{
    char from[32], to[32], heading[160];

    if (!l->after)
        return 0;
    snprintf(heading, sizeof(heading),
             "What grows after the last step, in %u slices of equal time: live %s, then %s",
             l->after->slices, ml_format_bytes(from, (int64_t)l->after->from_bytes, style->unit),
             ml_format_bytes(to, (int64_t)l->after->to_bytes, style->unit));
    return put_leaks(l->after, heading, style, out);
}

int ml_leaks_text(const struct ml_leaks *leaks, const char *file, const struct ml_style *style,
                  struct ml_buf *out)
{
    int r = ml_snapshot_origin_text(&leaks->at, file, style, out);

    if (r == 0)
        r = ml_buf_puts(out, "\n");
    if (r == 0 && leaks->no_allocations)
        return ml_buf_puts(out, "No allocation was recorded: whether anything grows cannot be "
                                "known.\n");
    if (r == 0)
        r = put_method(leaks, style, out);
    if (r == 0)
        r = put_range(leaks, style, out);
    if (r < 0 || leaks->measured == 0)
        return r;
    if (found_in_all(leaks) == 0) {
        r = put_no_leaks(leaks, style, out);
        if (r == 0)
            r = put_after(leaks, style, out);
        return r < 0 ? r : put_left(leaks, style, out);
    }
    r = put_leaks(leaks, "What grows", style, out);
    if (r == 0)
        r = put_fate(leaks, style, out);
    if (r == 0)
        r = put_stacks(leaks, style, out);
    if (r == 0)
        r = put_after(leaks, style, out);
    return r < 0 ? r : put_hint(leaks, style, out);
}
