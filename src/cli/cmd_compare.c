/* cmd_compare.c: `memledger compare`: several recordings side by side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "compare_instants.h"
#include "compare_report.h"
#include "compare_view.h"
#include "health_report.h"
#include "instant_command.h"
#include "run_names.h"
#include "say.h"
#include "summary.h"
#include "verbs.h"

#define INSTANTS_MAX 16

struct compare_opts {
    struct ml_instant_opts instant; /* first, as its option entries require */
    const char *by;
    int each; /* enum ml_compare_rows */
    int64_t top;
    uint64_t min_change;
    double fail_percent; /* negative: never */
    struct ml_compare_view_opts view;
    struct {
        struct ml_at at[INSTANTS_MAX];
        const char *names[INSTANTS_MAX]; /* as typed */
        size_t count;
    } instants; /* of --at */
};

static const char *const each_choices[] = {"entry", "step", "phase", NULL};

static const struct ml_option options[] = {
    {.name = "by",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct compare_opts, by),
     .value_name = "KEY,...",
     .help = "compare by these keys (category); keys as in table"},
    {.name = "at",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_instant_opts, at),
     .value_name = "WHEN,...",
     .help = "choose an instant of each run, or several of one run: peak (default), end, oom, "
             "step:N, step:N:end, or a time (1.5s, 20ms)"},
    {.name = "device",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_instant_opts, device),
     .value_name = "NAME",
     .help = "show only this device: cuda:0 (or 0), cpu for the host"},
    {.name = "process",
     .type = ML_OPT_INT,
     .offset = offsetof(struct ml_instant_opts, process),
     .value_name = "PID",
     .help = "several instants of one run: show only blocks of this process",
     .min = 1,
     .max = UINT32_MAX,
     .no_env = true},
    {.name = "each",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct compare_opts, each),
     .value_name = "WHAT",
     .choices = each_choices,
     .help = "compare each entry, or the peak of each step or phase"},
    {.name = "top",
     .letter = 'n',
     .type = ML_OPT_INT,
     .offset = offsetof(struct compare_opts, top),
     .value_name = "N",
     .help = "list the N entries that changed most (20)",
     .min = 0,
     .max = 1000000000},
    {.name = "min-change",
     .type = ML_OPT_BYTES,
     .offset = offsetof(struct compare_opts, min_change),
     .value_name = "SIZE",
     .help = "skip entries that changed by less than SIZE"},
    {.name = "fail-on-increase",
     .type = ML_OPT_NUMBER,
     .offset = offsetof(struct compare_opts, fail_percent),
     .value_name = "PERCENT",
     .help = "exit with 1 if a peak, or a requested entry, rose by more than PERCENT",
     .min = 0,
     .max = 1000000},
    ML_OPTION_CHECKPOINTS,
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
    runs->traces[i] = ml_report_open(runs->files[i], &opts->instant.report);
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
        .trace = runs->traces[i],
    };
    return r < 0 ? ml_report_fail(&err) : ML_EXIT_OK;
}

/* An incomplete or empty run must not pass for a small one. */
static bool can_be_judged(const struct ml_compare_run *run)
{
    const struct ml_health *h = run->health;
    const char *why = h->empty && h->heap_recorded ? "no allocation was recorded"
                      : h->empty ? "no allocation was recorded; was --heap forgotten? Runs with "
                                   "--sample-only are compared by their samples"
                      : h->cut_short      ? ml_health_cut_short_words(h)
                      : h->damaged_blocks ? "parts of it are damaged"
                      : h->lost > 0       ? "events were lost"
                                          : NULL;

    if (why)
        ml_say("cannot judge %s: %s", run->file, why);
    return !why;
}

/* Whether the command line asks for entries, which are then checked too. */
static bool names_entries(const struct compare_opts *opts)
{
    return opts->by || opts->instant.at || opts->each != ML_COMPARE_KEYS;
}

static bool judge_entries(const struct ml_compare *compare, const struct ml_compare_view *view,
                          double percent)
{
    const struct ml_compare_cell *cell = view->worst.cells + view->worst_run;
    char bytes[32], share[32] = "from nothing";
    struct ml_buf name;

    if (view->worst_run == 0 || cell->change.percent <= percent)
        return true;
    ml_buf_init(&name);
    if (!isinf(cell->change.percent))
        snprintf(share, sizeof(share), "by %.1f %%", cell->change.percent);
    ml_compare_entry_text(view, &view->worst, &name);
    ml_say("%s: %s rose %s, to %s; %g %% is allowed", compare->runs.items[view->worst_run].file,
           name.data ? (char *)name.data : "an entry", share,
           ml_format_bytes(bytes, (int64_t)cell->change.value, ML_UNIT_AUTO), percent);
    ml_buf_release(&name);
    return false;
}

static int judge(const struct ml_compare *compare, const struct ml_compare_view *view,
                 double percent)
{
    bool ok = true;

    for (size_t i = 0; i < compare->runs.len; i++)
        ok &= can_be_judged(&compare->runs.items[i]);
    if (ok && compare->worst_increase_percent > percent) {
        ml_say("the peak rose by %.1f %%; %g %% is allowed", compare->worst_increase_percent,
               percent);
        ok = false;
    }
    if (view)
        ok &= judge_entries(compare, view, percent);
    return ok ? ML_EXIT_OK : ML_EXIT_FAILURE;
}

static int write_comparison(const struct ml_compare *compare, const struct ml_compare_view *view,
                            const struct compare_opts *opts)
{
    struct ml_style style = ml_report_style(&opts->instant.report);
    struct ml_buf out;
    int status, r;

    ml_buf_init(&out);
    r = opts->instant.report.json ? ml_compare_json(compare, view, &out)
                                  : ml_compare_text(compare, view, &style, &out);
    status = r < 0 ? ml_report_fail(&(struct ml_error){0}) : ml_report_write(&out);
    ml_buf_release(&out);
    if (status == ML_EXIT_OK && opts->fail_percent >= 0)
        status = judge(compare, names_entries(opts) ? view : NULL, opts->fail_percent);
    return status;
}

static int print_comparison(const struct runs *runs, const struct compare_opts *opts)
{
    struct ml_compare_view view = {0};
    struct ml_error err = {0};
    struct ml_compare compare;
    int status, r = ml_compare(runs->inputs, runs->count, &runs->caps, &compare, &err);
    bool viewed = !compare.by_samples || names_entries(opts);

    if (r == 0 && viewed)
        r = ml_compare_view(runs->inputs, &compare, &opts->view, &view, &err);
    if (r < 0) {
        status = ml_report_fail(&err);
        status = r == -EINVAL ? ML_EXIT_USAGE : status;
    } else {
        status = write_comparison(&compare, viewed ? &view : NULL, opts);
    }
    ml_compare_view_release(&view);
    ml_compare_release(&compare);
    return status;
}

static bool has_word(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (;;) {
        size_t end = strcspn(list, ",");

        if (end == len && memcmp(list, word, len) == 0)
            return true;
        if (list[end] == '\0')
            return false;
        list += end + 1;
    }
}

/* What to type for a word that is no key but names a comparison that exists; else NULL. */
static const char *instead_of_key(const char *keys)
{
    if (has_word(keys, "step") || has_word(keys, "steps"))
        return "--each step";
    if (has_word(keys, "layer") || has_word(keys, "layers"))
        return "--by module";
    return NULL;
}

static int refuse_keys(const char *keys, const struct ml_error *err)
{
    const char *instead = instead_of_key(keys);

    return ml_verb_usage_error(&ml_verb_compare, "--by: %s%s%s", err->text, instead ? "; use " : "",
                               instead ? instead : "");
}

/* @return negative to continue, else the exit code */
static int prepare_view(struct compare_opts *opts)
{
    struct ml_breakdown_opts keys = {0};
    struct ml_error err = {0};

    if (ml_breakdown_parse(opts->by ? opts->by : "category", &keys, &err) < 0)
        return refuse_keys(opts->by, &err);
    if (opts->each != ML_COMPARE_KEYS && (opts->by || opts->instant.at))
        return ml_verb_usage_error(&ml_verb_compare,
                                   "--each=%s compares peaks: neither --by nor --at goes with it",
                                   each_choices[opts->each]);
    for (size_t i = 0; i < keys.by_count; i++)
        opts->view.by[i] = keys.by[i];
    opts->view.by_count = keys.by_count;
    opts->view.rows = (enum ml_compare_rows)opts->each;
    opts->view.top = (size_t)opts->top;
    opts->view.min_change_bytes = opts->min_change;
    opts->view.at = opts->instants.at[0];
    opts->view.device = opts->instant.device;
    opts->view.pid = (uint32_t)opts->instant.process;
    return -1;
}

/* @return an exit code */
static int compare_runs(struct compare_opts *opts, const char *const *files, size_t count)
{
    struct runs runs = {
        .count = count, .files = files, .caps = {.only_device = opts->instant.device}};
    int status = ML_EXIT_OK;

    opts->view.caps = &runs.caps;
    if (alloc_runs(&runs) < 0)
        status = ml_report_fail(&(struct ml_error){0});
    for (size_t i = 0; status == ML_EXIT_OK && i < runs.count; i++)
        status = open_run(&runs, i, opts);
    for (size_t i = 0; status == ML_EXIT_OK && i < runs.count; i++)
        status = summarize_run(&runs, i);
    if (status == ML_EXIT_OK)
        status = print_comparison(&runs, opts);
    release_runs(&runs);
    return status;
}

/* ---- Several instants of one run ---------------------------------------- */

/* @return negative to continue, else the exit code */
static int check_instants(const struct compare_opts *opts, size_t files)
{
    if (files != 1)
        return ml_verb_usage_error(&ml_verb_compare,
                                   "--at: several instants are for one trace; give one instant, or "
                                   "one trace");
    if (opts->fail_percent >= 0)
        return ml_verb_usage_error(&ml_verb_compare,
                                   "--fail-on-increase is for several traces; memledger check "
                                   "limits the growth within one");
    return -1;
}

static int write_instants(const struct ml_compare_instants *compared, const char *file,
                          const struct compare_opts *opts)
{
    struct ml_style style = ml_report_style(&opts->instant.report);
    struct ml_buf out;
    int status, r;

    ml_buf_init(&out);
    r = opts->instant.report.json ? ml_compare_instants_json(compared, file, &out)
                                  : ml_compare_instants_text(compared, &style, &out);
    status = r < 0 ? ml_report_fail(&(struct ml_error){0}) : ml_report_write(&out);
    ml_buf_release(&out);
    return status;
}

static int compare_instants(const struct compare_opts *opts, const char *file)
{
    struct ml_compare_instants compared = {0};
    struct ml_error err = {0};
    struct ml_trace *trace = ml_instant_open(file, &opts->instant);
    int status = ML_EXIT_FAILURE;

    if (trace && ml_compare_instants(trace, opts->instants.at, opts->instants.names,
                                     opts->instants.count, &opts->view, &compared, &err) < 0)
        ml_report_fail(&err);
    else if (trace)
        status = write_instants(&compared, file, opts);
    ml_compare_instants_release(&compared);
    ml_trace_free(trace);
    return status;
}

/* Splits "step:3,step:9". @return negative to continue, else the exit code */
static int parse_instants(struct compare_opts *opts, struct ml_arena *arena)
{
    const char *text = opts->instant.at ? opts->instant.at : "peak";
    int status = -1;

    for (;;) {
        size_t len = strcspn(text, ","), i = opts->instants.count++;

        if (i == INSTANTS_MAX)
            return ml_verb_usage_error(&ml_verb_compare, "--at: more than %d instants",
                                       INSTANTS_MAX);
        opts->instants.names[i] = ml_arena_dup(arena, text, len);
        if (!opts->instants.names[i])
            return ml_report_fail(&(struct ml_error){0});
        status = ml_instant_parse(&ml_verb_compare, opts->instants.names[i], &opts->instants.at[i]);
        if (status >= 0 || text[len] == '\0')
            return status;
        text += len + 1;
    }
}

/* ---- The command ---------------------------------------------------------- */

/* @return an exit code */
static int compare(struct compare_opts *opts, const char *const *files, size_t count)
{
    int status = prepare_view(opts);

    if (status >= 0)
        return status;
    if (opts->instants.count > 1) {
        status = check_instants(opts, count);
        return status >= 0 ? status : compare_instants(opts, files[0]);
    }
    if (opts->instant.process)
        return ml_verb_usage_error(&ml_verb_compare,
                                   "--process is for several instants of one trace: add "
                                   "--at WHEN,WHEN");
    if (count < 2)
        return ml_verb_usage_error(&ml_verb_compare,
                                   "name two or more traces to compare, or two instants of one: "
                                   "--at step:3,step:9");
    return compare_runs(opts, files, count);
}

static int run(int argc, char **argv)
{
    struct compare_opts opts = {.fail_percent = -1, .top = 20};
    struct ml_arena arena = {0};
    int first, status = ml_verb_begin(&ml_verb_compare, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    status = parse_instants(&opts, &arena);
    if (status < 0)
        status = compare(&opts, (const char *const *)&argv[first], (size_t)(argc - first));
    ml_arena_release(&arena);
    return status;
}

const struct ml_verb ml_verb_compare = {
    .name = "compare",
    .summary = "compare runs, or instants of one run",
    .usage = "[OPTION]... FILE...",
    .details = "Every run is compared with the first. Runs are sorted by peak, the largest\n"
               "increase first, and entries by change. Of one FILE, instants are compared with\n"
               "the first one: --at step:3,step:9.",
    .group = ML_GROUP_COMPARE,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
