/* oom_text.c: see oom_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "breakdown_report.h"
#include "cells.h"
#include "leaks_report.h"
#include "oom_report.h"
#include "paragraph.h"
#include "snapshot_report.h"

/* A paragraph while it is written. The first failure is kept. */
struct prose {
    const struct ml_oom *o;
    const struct ml_style *style;
    struct ml_buf text;
    int r;
};

ML_PRINTF(2, 3)
static void say(struct prose *p, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    if (p->r == 0)
        p->r = ml_buf_vprintf(&p->text, fmt, args);
    va_end(args);
}

#define SIZE(bytes) ml_report_size(p->style, (bytes)).text

/* ---- The request ------------------------------------------------ */

static void say_request(struct prose *p)
{
    const struct ml_oom *o = p->o;

    if (o->refusal.killed)
        say(p,
            "The kernel killed process %u to keep the memory limit of its control group, %s. Its "
            "last allocation was of %s on %s (%s)",
            o->pid, SIZE(o->group_limit.bytes), SIZE(o->refusal.bytes), o->device, o->space);
    else if (o->pid)
        say(p, "Process %u asked for %s on %s (%s)", o->pid, SIZE(o->refusal.bytes), o->device,
            o->space);
    else
        say(p, "The program asked for %s on %s (%s)", SIZE(o->refusal.bytes), o->device, o->space);
    if (o->module[0])
        say(p, ", in %s", o->module);
    else if (o->scope[0])
        say(p, ", in %s", o->scope);
    if (o->class_name[0])
        say(p, " (%s)", o->class_name);
    if (o->phase[0])
        say(p, ", %s: %s %s", o->phase, o->refusal.killed ? "probably" : "it would be",
            o->category);
    if (o->line[0])
        say(p, ", at %s", o->line);
    say(p, ".");
}

/* ---- Free memory ----------------------------------------------------- */

static void say_segments(struct prose *p)
{
    const struct ml_free_place *f = &p->o->place;

    say(p, " The allocator had %s in %" PRIu64 " segment%s, %s of it in live blocks",
        SIZE(f->bytes), f->segments, f->segments == 1 ? "" : "s", SIZE(f->live_bytes));
    if (f->holes > 0)
        say(p, "; %s was free in %" PRIu64 " hole%s, the largest %s", SIZE(f->hole_bytes), f->holes,
            f->holes == 1 ? "" : "s", SIZE(f->largest_hole));
    if (f->empty_bytes > 0)
        say(p, "; %s in empty segments", SIZE(f->empty_bytes));
    say(p, f->holes + f->empty_bytes > 0 ? "." : ", and nothing free.");
    say(p, " The largest request that would have succeeded was %s.", SIZE(f->largest_request));
    if (p->o->need_bytes != p->o->refusal.bytes)
        say(p, " This one needs a new segment of %s.", SIZE(p->o->need_bytes));
}

#define WORTH_SAYING_NS UINT64_C(100000000) /* the sampler's pace */

/* "The driver had 3.1 GiB free of 79.1 GiB, 0.3 s before." */
static void say_sampled(struct prose *p)
{
    const struct ml_oom *o = p->o;
    char age[32];

    if (!o->sampled_free.known) {
        say(p, " The device's free memory was not recorded.");
        return;
    }
    say(p, " %s had %s free", o->host ? "The machine" : "The driver", SIZE(o->sampled_free.bytes));
    if (o->driver.total.known)
        say(p, " of %s", SIZE(o->driver.total.bytes));
    if (o->free_age_ns > WORTH_SAYING_NS)
        say(p, ", %s before", ml_format_duration_ns(age, (int64_t)o->free_age_ns));
    say(p, o->driver.free.known ? "." : ", too long ago to judge by it.");
}

static void say_free(struct prose *p)
{
    const struct ml_oom *o = p->o;

    if (o->has_segments)
        say_segments(p);
    else
        say(p, " %s was live there.", SIZE(o->live_bytes));
    if (o->refusal.driver_bytes)
        say(p, " The driver refused %s.", SIZE(o->refusal.driver_bytes));
    say_sampled(p);
}

/* ---- Why --------------------------------------------------------------- */

static void say_afresh(struct prose *p)
{
    say(p, "laid out afresh%s, the live blocks and the request need %s",
        p->o->torch ? " in segments of PyTorch's sizes" : "", SIZE(p->o->afresh_bytes));
}

static void say_address_limit(struct prose *p)
{
    const struct ml_address_space *a = &p->o->addresses;

    say(p, " The limit on the process's address space (ulimit -v, RLIMIT_AS) forbade it: %s",
        SIZE(a->limit.bytes));
    if (a->used.known && ml_sum_u64(a->used.bytes, p->o->refusal.bytes) > a->limit.bytes)
        say(p, ", of which %s was in use. The request exceeds it by %s.", SIZE(a->used.bytes),
            SIZE(p->o->short_bytes.bytes));
    else if (a->used.known)
        say(p, ", of which %s was in use at the last sample.", SIZE(a->used.bytes));
    else
        say(p, ".");
    say(p, " Libraries, stacks of threads and reserved addresses count too.");
}

static void say_rule(struct prose *p)
{
    const struct ml_oom *o = p->o;
    bool exact = o->least_capacity == o->most_capacity;

    switch (o->rule) {
    case ML_RULE_FITS_AFRESH:
        say(p, " This is fragmentation: ");
        say_afresh(p);
        say(p, " of the %s that the allocator may have; the memory is free, but fragmented.",
            SIZE(o->least_capacity));
        break;
    case ML_RULE_TOO_MUCH:
        say(p, " This is a true shortage: even ");
        say_afresh(p);
        say(p, ", %s%s more than the allocator may have.", exact ? "" : "up to ",
            SIZE(o->short_bytes.bytes));
        break;
    case ML_RULE_BETWEEN:
        say(p, " It is unknown whether this is a shortage or fragmentation: ");
        say_afresh(p);
        say(p, ", and the allocator may have between %s and %s.", SIZE(o->least_capacity),
            SIZE(o->most_capacity));
        break;
    case ML_RULE_ADDRESSES:
        say(p, " This is a true shortage: no process can address more than 128 TiB.");
        break;
    case ML_RULE_TOTAL:
        say(p, " This is a true shortage: %s more than the %s.",
            o->refusal.bytes > o->driver.total.bytes ? "that is" : "with the live memory that is",
            o->host ? "machine has" : "device has");
        break;
    case ML_RULE_FREE:
        say(p, " This is a true shortage: that is %s more than was free.",
            SIZE(o->short_bytes.bytes));
        break;
    case ML_RULE_FREE_ENOUGH:
        say(p,
            " This is neither shortage nor fragmentation: enough was free, so a limit "
            "forbade it%s.",
            o->host ? " (ulimit -v, a container's, the kernel's overcommit)" : "");
        break;
    case ML_RULE_ADDRESS_LIMIT: say_address_limit(p); break;
    case ML_RULE_GROUP_LIMIT:
        say(p, " The limit is for all memory of the container or job: libraries, page tables and "
               "files in /dev/shm count too.");
        break;
    case ML_RULE_NO_SEGMENTS:
        say(p, " It is unknown whether this is a shortage or fragmentation: the allocator's "
               "segments were not recorded.");
        break;
    case ML_RULE_NO_FIGURES: say(p, " It is unknown whether this is a shortage or a limit."); break;
    }
    if (o->limited)
        say(p,
            " The driver had enough, so the allocator has its own limit, as set by "
            "set_per_process_memory_fraction: at least %s and below %s.",
            SIZE(o->least_capacity), SIZE(ml_sum_u64(o->most_capacity, 1)));
}

/* ---- Who held it ------------------------------------------------------- */

static bool has_names(const struct ml_breakdown *b, size_t key)
{
    for (size_t i = 0; i < b->groups.len; i++)
        if (b->groups.items[i].names[key][0])
            return true;
    return false;
}

static void holder_row(struct ml_table *t, const struct ml_breakdown *b, const bool *shown,
                       const struct ml_breakdown_group *group, const struct ml_style *style)
{
    ml_cells_bytes(t, style, group->bytes);
    ml_cells_percent(t, group->percent);
    ml_cells_count(t, group->blocks);
    for (size_t i = 0; i < b->by_count; i++)
        if (shown[i] && group->names[i][0])
            ml_table_cell(t, group->names[i]);
        else if (shown[i])
            ml_table_cellf(t, "(no %s)", ml_key_name(b->by[i]));
}

static int put_holders(const struct ml_oom *o, const struct ml_style *style, struct ml_buf *out)
{
    static const char *const titles[] = {">bytes", ">share", ">blocks"};
    const struct ml_breakdown *b = &o->holders;
    bool shown[ML_KEYS] = {false};
    struct ml_table t;
    int r;

    if (b->groups.len == 0)
        return 0;
    r = ml_report_heading(out, style, "Who held the live memory");
    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < b->by_count; i++) {
        shown[i] = has_names(b, i);
        if (shown[i])
            ml_key_column(&t, b->by[i]);
    }
    for (size_t i = 0; i < b->groups.len; i++)
        holder_row(&t, b, shown, &b->groups.items[i], style);
    if (b->rest_count > 0) {
        ml_cells_bytes(&t, style, b->rest.bytes);
        ml_cells_percent(&t, b->rest.percent);
        ml_cells_count(&t, b->rest.blocks);
        ml_table_cellf(&t, "(%zu more)", b->rest_count);
    }
    return ml_cells_print(&t, r, out, style);
}

/* ---- What would have made room ------------------------------------------ */

#define CHANGE_INDENT 22 /* columns of its bytes and whether they are enough */

static void say_leak(struct prose *p, const struct ml_oom_change *c)
{
    const char *when = c->by_steps ? "from step to step" : "all the time";

    if (c->count > 1)
        say(p, "stop the leak: %s and %" PRIu64 " more grow %s", *c->name ? c->name : "memory",
            c->count - 1, when);
    else
        say(p, "stop the leak: %s grows %s", *c->name ? c->name : "memory", when);
}

static void say_change(struct prose *p, const struct ml_oom_change *c)
{
    switch (c->kind) {
    case ML_CHANGE_LEAK: say_leak(p, c); break;
    case ML_CHANGE_EXPANDABLE:
        say(p, "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True: the holes become usable");
        break;
    case ML_CHANGE_SEGMENTS:
        say(p, "free the blocks in the %" PRIu64 " emptiest segment%s, which %s then released",
            c->count, c->count == 1 ? "" : "s", c->count == 1 ? "is" : "are");
        break;
    case ML_CHANGE_RAISE_LIMIT:
        say(p, p->o->rule == ML_RULE_ADDRESS_LIMIT ? "raise the limit: ulimit -v"
               : p->o->host ? "raise the limit of the process or its container"
                            : "raise the allocator's limit");
        break;
    case ML_CHANGE_BATCH:
        if (c->judged)
            say(p, "a batch smaller by %.1f %%: %s grow with it", 100 * c->fraction,
                SIZE(c->of_bytes));
        else
            say(p, "a smaller batch: this grows with it");
        break;
    case ML_CHANGE_GRADIENTS:
        say(p, "drop the gradients before forward: zero_grad(set_to_none=True)");
        break;
    case ML_CHANGE_OPTIMIZER:
        say(p, "keep the optimizer's state elsewhere, or in fewer bits");
        break;
    case ML_CHANGE_RECOMPUTE:
        say(p, "recompute %s in backward: at most its activations", c->name);
        break;
    case ML_CHANGE_BFLOAT16: say(p, "%s in bf16 instead of fp32", c->name); break;
    }
}

static int put_change(const struct ml_oom *o, const struct ml_oom_change *c,
                      const struct ml_style *style, struct ml_buf *out)
{
    struct prose prose = {.o = o, .style = style}, *p = &prose;
    const char *enough = !c->judged ? "?" : c->fits ? "yes" : "no";

    ml_buf_init(&p->text);
    say_change(p, c);
    if (p->r == 0)
        p->r = ml_buf_printf(out, "%12s  %-6s  ", SIZE(c->bytes), enough);
    if (p->r == 0)
        p->r = ml_report_paragraph(out, style, CHANGE_INDENT, (const char *)p->text.data);
    ml_buf_release(&p->text);
    return p->r;
}

static int put_changes(const struct ml_oom *o, const struct ml_style *style, struct ml_buf *out)
{
    int r;

    if (o->refusal.state == ML_REFUSAL_RECOVERED)
        return 0;
    if (o->changes.len == 0)
        return ml_buf_puts(out, "\nNone of the known changes would have made room.\n");
    r = ml_report_heading(out, style, "%s",
                          o->changes.items[0].fits || !o->changes.items[0].judged
                              ? "What would have made room"
                              : "What would have made some room, but not enough");
    if (r == 0)
        r = ml_buf_printf(out, "%12s  %s\n", "bytes", "enough");
    for (size_t i = 0; r == 0 && i < o->changes.len; i++)
        r = put_change(o, &o->changes.items[i], style, out);
    return r;
}

/* ---- The report --------------------------------------------------------- */

static int put_paragraph(const struct ml_oom *o, const struct ml_style *style, struct ml_buf *out)
{
    struct prose p = {.o = o, .style = style};

    ml_buf_init(&p.text);
    say_request(&p);
    say_free(&p);
    say_rule(&p);
    if (o->refusal.state == ML_REFUSAL_RECOVERED)
        say(&p, " The same thread got as much soon after, so the program did not notice.");
    if (p.r == 0)
        p.r = ml_report_paragraph(out, style, 0, (const char *)p.text.data);
    ml_buf_release(&p.text);
    return p.r;
}

int ml_oom_paragraph(const struct ml_oom_report *report, const struct ml_style *style,
                     struct ml_buf *out)
{
    size_t count = report->list.len;

    return count ? put_paragraph(&report->list.items[count - 1], style, out) : 0;
}

static int put_verdict(const struct ml_oom *o, const struct ml_style *style, struct ml_buf *out)
{
    char time[32], number[32] = "killed";
    int r;

    if (!o->refusal.killed)
        snprintf(number, sizeof(number), "oom:%" PRIu64, o->refusal.number);
    r = ml_report_heading(out, style, "Out of memory (%s) at %s: %s", number,
                          ml_format_duration_ns(time, (int64_t)o->refusal.time_ns),
                          ml_oom_verdict_name(o->verdict));
    if (r == 0)
        r = put_paragraph(o, style, out);
    if (r == 0)
        r = put_holders(o, style, out);
    return r < 0 ? r : put_changes(o, style, out);
}

static int put_counts(const struct ml_oom_report *report, const struct ml_style *style,
                      struct ml_buf *out)
{
    uint64_t recovered = report->refusals.recovered;
    struct prose prose = {.style = style}, *p = &prose;

    ml_buf_init(&p->text);
    if (report->left_out > 0)
        say(p,
            "There are %zu before these: --at oom:N shows one, memledger events --kind=oom "
            "lists all. ",
            report->left_out);
    if (recovered > 0 && report->list.items[0].refusal.state != ML_REFUSAL_RECOVERED)
        say(p,
            "The driver refused %" PRIu64 " more request%s, which succeeded after the "
            "allocator released its cache.",
            recovered, recovered == 1 ? "" : "s");
    if (p->r == 0 && p->text.len > 0)
        p->r = ml_buf_puts(out, "\n");
    if (p->r == 0 && p->text.len > 0)
        p->r = ml_report_paragraph(out, style, 0, (const char *)p->text.data);
    ml_buf_release(&p->text);
    return p->r;
}

/* The leak that led there, in one sentence. */
static int put_leak(const struct ml_oom_report *report, const struct ml_style *style,
                    struct ml_buf *out)
{
    const struct ml_leaks *l = &report->leaks;
    const struct ml_leak *leak = ml_oom_leak(l);
    struct prose prose = {.style = style}, *p = &prose;
    int r;

    if (!leak)
        return 0;
    ml_buf_init(&p->text);
    say(p, "A leak may have led there: live memory");
    for (size_t i = 0; i < l->by_count; i++)
        if (leak->names[i][0])
            say(p, ", %s %s", ml_key_name(l->by[i]), leak->names[i]);
    say(p, ", grew by %s in %" PRIu64 " of %" PRIu64 " %ss%s", SIZE(leak->grown_bytes), leak->grew,
        l->measured, ml_leaks_unit_word(l), leak->fell ? "" : " and never shrank");
    if (ml_oom_leak_count(l) > 1)
        say(p, ", and so did %zu more", ml_oom_leak_count(l) - 1);
    say(p, "; memledger leaks shows more.");
    r = ml_buf_puts(out, "\n");
    if (r == 0)
        r = p->r;
    if (r == 0)
        r = ml_report_paragraph(out, style, 0, (const char *)p->text.data);
    ml_buf_release(&p->text);
    return r;
}

int ml_oom_text(const struct ml_oom_report *report, const char *file, const struct ml_style *style,
                struct ml_buf *out)
{
    int r = ml_snapshot_origin_text(&report->at, file, style, out);

    for (size_t i = 0; r == 0 && i < report->list.len; i++)
        r = put_verdict(&report->list.items[i], style, out);
    if (r == 0)
        r = put_leak(report, style, out);
    return r < 0 ? r : put_counts(report, style, out);
}
