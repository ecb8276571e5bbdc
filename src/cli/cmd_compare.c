/* cmd_compare.c: `memledger compare`: several recordings side by side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"
#include "compare_report.h"
#include "report_command.h"
#include "run_names.h"
#include "summary.h"
#include "verbs.h"

struct compare_opts {
    struct ml_report_opts report; /* first, as its option entries want it */
    double fail_percent;          /* negative: never */
};

static const struct ml_option options[] = {
    {.name = "fail-on-increase",
     .type = ML_OPT_NUMBER,
     .offset = offsetof(struct compare_opts, fail_percent),
     .value_name = "PERCENT",
     .help = "exit with 1 when a peak is more than PERCENT above the first one's",
     .min = 0,
     .max = 1000000},
    ML_REPORT_OPTIONS,
};

struct runs {
    size_t count;
    const char *const *files;
    struct ml_trace **traces;
    struct ml_level_caps caps;
    struct ml_summary *summaries;
    struct ml_compare_input *inputs;
    const char **names;
    struct ml_arena arena;
};

static int alloc_runs(struct runs *runs)
{
    runs->traces = calloc(runs->count, sizeof(struct ml_trace *));
    runs->summaries = calloc(runs->count, sizeof(*runs->summaries));
    runs->inputs = calloc(runs->count, sizeof(*runs->inputs));
    runs->names = calloc(runs->count, sizeof(*runs->names));
    if (!runs->traces || !runs->summaries || !runs->inputs || !runs->names)
        return -ENOMEM;
    return ml_run_names(runs->files, runs->count, &runs->arena, runs->names);
}

static void release_runs(struct runs *runs)
{
    for (size_t i = 0; runs->summaries && i < runs->count; i++)
        ml_summary_release(&runs->summaries[i]);
    for (size_t i = 0; runs->traces && i < runs->count; i++)
        ml_trace_free(runs->traces[i]);
    ml_level_caps_release(&runs->caps);
    free(runs->traces);
    free(runs->summaries);
    free(runs->inputs);
    free(runs->names);
    ml_arena_release(&runs->arena);
}

/* All are opened first: together they decide at which level a device is counted. */
static int open_run(struct runs *runs, size_t i, const struct compare_opts *opts)
{
    runs->traces[i] = ml_report_open(runs->files[i], &opts->report);
    if (!runs->traces[i])
        return ML_EXIT_FAILURE;
    if (ml_level_caps_add(&runs->caps, runs->traces[i]) < 0)
        return ml_report_fail(&(struct ml_error){0});
    return ML_EXIT_OK;
}

static int summarize_run(struct runs *runs, size_t i)
{
    const struct ml_summary_opts summary_opts = {.caps = &runs->caps};
    struct ml_error err = {0};
    int r = ml_summarize(runs->traces[i], &summary_opts, &runs->summaries[i], &err);

    runs->inputs[i] = (struct ml_compare_input){
        .name = runs->names[i],
        .file = runs->files[i],
        .summary = &runs->summaries[i],
    };
    return r < 0 ? ml_report_fail(&err) : ML_EXIT_OK;
}

/* A run that is not whole, or holds nothing, must not pass for a small one. */
static bool can_be_judged(const struct ml_compare_run *run)
{
    const struct ml_health *h = run->health;
    const char *why = h->empty ? "no allocation was recorded; was --heap forgotten? Runs with "
                                 "--sample-only are judged by their samples"
                      : h->cut_short      ? "the recording ended abruptly"
                      : h->damaged_blocks ? "parts of it are damaged"
                      : h->lost > 0       ? "events were lost"
                                          : NULL;

    if (why)
        fprintf(stderr, "memledger: %s cannot be judged: %s\n", run->file, why);
    return !why;
}

static int judge(const struct ml_compare *compare, double percent)
{
    bool ok = true;

    for (size_t i = 0; i < compare->runs.len; i++)
        ok &= can_be_judged(&compare->runs.items[i]);
    if (ok && compare->worst_increase_percent > percent) {
        fprintf(stderr, "memledger: the peak rose by %.1f %%; %g %% is allowed\n",
                compare->worst_increase_percent, percent);
        ok = false;
    }
    return ok ? ML_EXIT_OK : ML_EXIT_FAILURE;
}

static int print_comparison(const struct runs *runs, const struct compare_opts *opts)
{
    struct ml_style style = ml_report_style(&opts->report);
    struct ml_error err = {0};
    struct ml_compare compare;
    struct ml_buf out;
    int status, r = ml_compare(runs->inputs, runs->count, &runs->caps, &compare, &err);

    ml_buf_init(&out);
    if (r == 0)
        r = opts->report.json ? ml_compare_json(&compare, &out)
                              : ml_compare_text(&compare, &style, &out);
    if (r < 0) {
        status = ml_report_fail(&err);
        status = r == -EINVAL ? ML_EXIT_USAGE : status;
    } else {
        status = ml_report_write(&out);
    }
    if (status == ML_EXIT_OK && opts->fail_percent >= 0)
        status = judge(&compare, opts->fail_percent);
    ml_compare_release(&compare);
    ml_buf_release(&out);
    return status;
}

static int run(int argc, char **argv)
{
    struct compare_opts opts = {.fail_percent = -1};
    struct runs runs = {0};
    int first, status = ml_verb_begin(&ml_verb_compare, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    if (argc - first < 2)
        return ml_verb_usage_error(&ml_verb_compare, "give two traces or more to compare");
    runs.count = (size_t)(argc - first);
    runs.files = (const char *const *)&argv[first];
    status = ML_EXIT_OK;
    if (alloc_runs(&runs) < 0)
        status = ml_report_fail(&(struct ml_error){0});
    for (size_t i = 0; status == ML_EXIT_OK && i < runs.count; i++)
        status = open_run(&runs, i, &opts);
    for (size_t i = 0; status == ML_EXIT_OK && i < runs.count; i++)
        status = summarize_run(&runs, i);
    if (status == ML_EXIT_OK)
        status = print_comparison(&runs, &opts);
    release_runs(&runs);
    return status;
}

const struct ml_verb ml_verb_compare = {
    .name = "compare",
    .summary = "put runs side by side: peak, what it consisted of, allocations, time",
    .usage = "[OPTION]... FILE FILE...",
    .details = "Every run is compared with the first one; the others stand in the order of\n"
               "their peaks, the largest increase first.",
    .group = ML_GROUP_READ,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
