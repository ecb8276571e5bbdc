/* cmd_leaks.c: `memledger leaks`: growth from step to step, or what was never freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "leaks.h"
#include "leaks_report.h"
#include "never_freed.h"
#include "report_command.h"
#include "say.h"
#include "verbs.h"

struct leaks_opts {
    struct ml_report_opts report; /* first, as its option entries want it */
    const char *by, *device;
    int64_t process, warm_up, slices, top;
    bool fail, never_freed;
    uint64_t min_growth_bytes;
    const char *suppressions;
};

/* A list of losses: a number a step, of 512 bytes on a GPU. */
#define MIN_GROWTH_BYTES 1024

static const struct ml_option options[] = {
    {.name = "by",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct leaks_opts, by),
     .value_name = "KEY,...",
     .help = "group by these keys (line or stack, module, category); keys as in table"},
    {.name = "device",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct leaks_opts, device),
     .value_name = "NAME",
     .help = "show only this device: cuda:0 (or 0), cpu for the host"},
    {.name = "process",
     .type = ML_OPT_INT,
     .offset = offsetof(struct leaks_opts, process),
     .value_name = "PID",
     .help = "use this process, not the first that marks steps",
     .min = 1,
     .max = UINT32_MAX},
    {.name = "warm-up",
     .type = ML_OPT_INT,
     .offset = offsetof(struct leaks_opts, warm_up),
     .value_name = "N",
     .help = "ignore the first N steps (2; fewer in a short run)",
     .min = 0,
     .max = UINT32_MAX},
    {.name = "slices",
     .type = ML_OPT_INT,
     .offset = offsetof(struct leaks_opts, slices),
     .value_name = "N",
     .help = "cut the run into N slices of equal time, not into steps",
     .min = 3,
     .max = 100000},
    {.name = "never-freed",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct leaks_opts, never_freed),
     .help = "list what was never freed, by stack, growing or not"},
    {.name = "suppressions",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct leaks_opts, suppressions),
     .value_name = "FILE",
     .help = "never-freed: leave out stacks that match, as LeakSanitizer does (leak:PATTERN)"},
    {.name = "top",
     .letter = 'n',
     .type = ML_OPT_INT,
     .offset = offsetof(struct leaks_opts, top),
     .value_name = "N",
     .help = "list N groups (10)",
     .min = 0,
     .max = 1000000},
    {.name = "fail",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct leaks_opts, fail),
     .help = "exit with 1 if something grows steadily or likely leaks"},
    {.name = "min-growth",
     .type = ML_OPT_BYTES,
     .offset = offsetof(struct leaks_opts, min_growth_bytes),
     .value_name = "SIZE",
     .help = "fail: ignore growth below SIZE a step in all (1KiB)"},
    ML_REPORT_OPTIONS,
};

/* Whether so little grows that the run passes. The growth in a slice depends on how many there are,
 * and is never too little. */
static bool is_too_little(const struct ml_leaks *leaks, const struct leaks_opts *opts)
{
    uint64_t grown = leaks->found_bytes[ML_LEAK_STEADY] + leaks->found_bytes[ML_LEAK_LIKELY];

    return leaks->unit == ML_LEAK_BY_STEP &&
           (double)grown < (double)opts->min_growth_bytes * (double)ml_leaks_all_steps(leaks);
}

/* An incomplete trace must not pass for one without leaks. */
static int judge(const struct ml_leaks *leaks, const struct leaks_opts *opts)
{
    const struct ml_health *h = &leaks->at.instant.health;
    uint64_t found = leaks->found[ML_LEAK_STEADY] + leaks->found[ML_LEAK_LIKELY];

    if (found > 0 && !is_too_little(leaks, opts))
        ml_say("%" PRIu64 " %s from %s to %s%s", found, found == 1 ? "entry grows" : "entries grow",
               ml_leaks_unit_word(leaks), ml_leaks_unit_word(leaks),
               ml_leaks_know_left(leaks)
                   ? "; --never-freed --fail judges what the program left behind"
                   : "");
    else if (leaks->no_allocations || h->lost > 0 || h->damaged_blocks > 0)
        ml_say("cannot judge this run: %s",
               leaks->no_allocations ? "no allocation was recorded" : "events are missing");
    else if (leaks->measured == 0)
        ml_say("cannot judge this run: there are too few steps");
    else if (leaks->other_pids.len > 0 && leaks->process < 0)
        ml_say("cannot judge this run: only one of %" PRIu32 " processes that mark steps was "
               "looked at; name one with --process, or use memledger check --max-growth, which "
               "looks at each",
               (uint32_t)leaks->other_pids.len + 1);
    else
        return ML_EXIT_OK;
    return ML_EXIT_FAILURE;
}

static int print_leaks(const struct ml_trace *trace, const char *file,
                       const struct leaks_opts *opts, struct ml_leaks_opts *leaks_opts)
{
    struct ml_style style = ml_report_style(&opts->report);
    struct ml_error err = {0};
    struct ml_leaks leaks;
    struct ml_buf out;
    int status, r = ml_leaks(trace, leaks_opts, &leaks, &err);

    ml_buf_init(&out);
    if (r == 0)
        r = opts->report.json ? ml_leaks_json(&leaks, file, &out)
                              : ml_leaks_text(&leaks, file, &style, &out);
    status = r < 0 ? ml_report_fail(&err) : ml_report_write(&out);
    if (status == ML_EXIT_OK && opts->fail)
        status = judge(&leaks, opts);
    ml_leaks_release(&leaks);
    ml_buf_release(&out);
    return status;
}

/* @return negative to continue, else the exit code */
static int check_never_freed(const struct leaks_opts *opts)
{
    if (opts->suppressions && !opts->never_freed)
        return ml_verb_usage_error(&ml_verb_leaks, "--suppressions goes with --never-freed");
    if (opts->never_freed && (opts->by || opts->process || opts->slices))
        return ml_verb_usage_error(&ml_verb_leaks,
                                   "--never-freed lists stacks of the whole run; neither --by, "
                                   "--process nor --slices goes with it; table --of leaked takes "
                                   "any key");
    return -1;
}

static int list_never_freed(const struct ml_trace *trace, const char *file,
                            const struct leaks_opts *opts)
{
    const struct ml_never_freed_opts own = {
        .report = &opts->report,
        .device = opts->device,
        .suppressions = opts->suppressions,
        .top = (size_t)opts->top,
        .fail = opts->fail,
    };

    return ml_never_freed(trace, file, &own);
}

static int run(int argc, char **argv)
{
    struct leaks_opts opts = {
        .warm_up = ML_LEAK_WARM_UP, .top = 10, .min_growth_bytes = MIN_GROWTH_BYTES};
    struct ml_breakdown_opts keys = {0};
    struct ml_leaks_opts leaks_opts = {0};
    struct ml_error err = {0};
    struct ml_trace *trace;
    const char *file;
    int first, status = ml_verb_begin(&ml_verb_leaks, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    if (opts.by && ml_breakdown_parse(opts.by, &keys, &err) < 0)
        return ml_verb_usage_error(&ml_verb_leaks, "--by: %s", err.text);
    status = check_never_freed(&opts);
    if (status >= 0)
        return status;
    file = ml_report_operand(&ml_verb_leaks, argc, argv, first);
    if (!file)
        return ML_EXIT_USAGE;
    trace = ml_report_open(file, &opts.report);
    if (!trace)
        return ML_EXIT_FAILURE;
    for (size_t i = 0; i < keys.by_count; i++)
        leaks_opts.by[i] = keys.by[i];
    leaks_opts.by_count = keys.by_count;
    leaks_opts.device = opts.device;
    leaks_opts.pid = (uint32_t)opts.process;
    leaks_opts.warm_up = opts.warm_up;
    leaks_opts.slices = (uint32_t)opts.slices;
    leaks_opts.top = (size_t)opts.top;
    status = opts.never_freed ? list_never_freed(trace, file, &opts)
                              : print_leaks(trace, file, &opts, &leaks_opts);
    ml_trace_free(trace);
    return status;
}

const struct ml_verb ml_verb_leaks = {
    .name = "leaks",
    .summary = "find memory that grows from step to step, and its call site",
    .usage = "[OPTION]... FILE",
    .details = "Signs: steady, it grew in every step; likely, it never shrank and still grows;\n"
               "maybe, it shrank in between, or there are too few steps to tell.",
    .group = ML_GROUP_WHY,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
