/* cmd_plot.c: `memledger plot`: pictures of recordings, as SVG, PNG or PDF.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <string.h>

#include "costs.h"
#include "dictionary_option.h"
#include "plot_pictures.h"
#include "say.h"
#include "unknowns.h"
#include "verbs.h"
#include "window_begin.h"

#define DEFAULT_OUTPUT "memledger-plot.svg"
#define DEFAULT_WIDTH 1000

/* ---- Kinds ------------------------------------------------------------- */

/* In the order of their names below. */
static const struct ml_plot_kind kinds[] = {
    {ml_draw_timeline, 520, ML_PLOT_TOGETHER, true}, {ml_draw_bars, 560, ML_PLOT_ALONE, false},
    {ml_draw_categories, 0, ML_PLOT_EACH, false},    {ml_draw_flame, 0, ML_PLOT_ALONE, false},
    {ml_draw_icicle, 0, ML_PLOT_ALONE, false},       {ml_draw_lifetimes, 0, ML_PLOT_ALONE, true},
    {ml_draw_segments, 0, ML_PLOT_ALONE, false},
};
static const char *const kind_names[] = {"timeline", "bars",      "categories", "flame",
                                         "icicle",   "lifetimes", "segments",   NULL};
static const char *const axes_names[] = {"same", "each", NULL}; /* enum ml_plot_axes */
static const char *const by_names[] = {"category", "module",  "device", "process",
                                       "stack",    "callers", "rank",   NULL};

static const struct ml_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_plot_cmd_opts, output),
     .value_name = "FILE",
     .help = "write to FILE: .svg, .png, .pdf (" DEFAULT_OUTPUT ")",
     .no_env = true},
    {.name = "force",
     .letter = 'f',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_plot_cmd_opts, force),
     .help = "overwrite an existing file",
     .no_env = true},
    {.name = "kind",
     .letter = 'k',
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct ml_plot_cmd_opts, kind),
     .value_name = "KIND",
     .choices = kind_names,
     .help = "draw a timeline (default), bars, categories, flame, icicle, lifetimes or segments",
     .no_env = true},
    {.name = "by",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct ml_plot_cmd_opts, by),
     .value_name = "KEY",
     .choices = by_names,
     .help = "timeline: stack by category (default), module, device, process, or by rank of "
             "several runs; flame, icicle: by module, stack, or from allocations to their callers",
     .no_env = true},
    {.name = "of",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct ml_plot_cmd_opts, of),
     .value_name = "WHAT",
     .choices = ml_cost_words,
     .help = "flame, icicle by stack: bytes at the peak (default), leaked, allocated, temporary, "
             "or calls",
     .no_env = true},
    {.name = "depth",
     .type = ML_OPT_INT,
     .offset = offsetof(struct ml_plot_cmd_opts, depth),
     .value_name = "N",
     .help = "timeline by module: show modules N levels deep (default: as fits)",
     .min = 1,
     .max = 4096,
     .no_env = true},
    ML_OPTION_AT,
    ML_OPTION_DEVICE,
    {.name = "process",
     .type = ML_OPT_INT,
     .offset = offsetof(struct ml_instant_opts, process),
     .value_name = "PID",
     .help = "timeline: count only blocks of this process",
     .min = 1,
     .max = UINT32_MAX,
     .no_env = true},
    {.name = "dictionary",
     .word = ml_dictionary_word,
     .or_file = true,
     .letter = 'd',
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_plot_cmd_opts, dictionaries),
     .value_name = "NAME,...",
     .help = "use these keywords for bars (layers,torch or layers,mxnet) and categories (torch); "
             "see memledger help groups"},
    {.name = "expected",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_plot_cmd_opts, expected),
     .value_name = "SIZE",
     .help = "bars, categories: fill up to this total; auto: to the sampled one"},
    {.name = "gross",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_plot_cmd_opts, gross),
     .help = "bars, categories: count all allocations of the run",
     .no_env = true},
    {.name = "min-share",
     .type = ML_OPT_NUMBER,
     .offset = offsetof(struct ml_plot_cmd_opts, min_share),
     .value_name = "PCT",
     .help = "categories: hide those with PCT percent or less",
     .min = 0,
     .max = 100,
     .no_env = true},
    {.name = "grid",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_plot_cmd_opts, grid),
     .help = "categories: draw several runs in one picture",
     .no_env = true},
    {.name = "axes",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct ml_plot_cmd_opts, axes),
     .value_name = "WHICH",
     .choices = axes_names,
     .help = "grid: use the same axis for all charts (default), or one for each",
     .no_env = true},
    {.name = "baseline",
     .word = ml_baseline_word,
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_plot_cmd_opts, baseline),
     .value_name = "WHAT",
     .help = "timeline: subtract from each curve its first value, its min, or a size (230MiB)"},
    {.name = "from",
     .type = ML_OPT_DURATION,
     .offset = offsetof(struct ml_plot_cmd_opts, from_ns),
     .value_name = "TIME",
     .help = "timeline, lifetimes: begin at this time (1.5s, 20ms)"},
    {.name = "to",
     .type = ML_OPT_DURATION,
     .offset = offsetof(struct ml_plot_cmd_opts, to_ns),
     .value_name = "TIME",
     .help = "timeline, lifetimes: end at this time"},
    {.name = "top",
     .letter = 'n',
     .type = ML_OPT_INT,
     .offset = offsetof(struct ml_plot_cmd_opts, top),
     .value_name = "N",
     .help = "draw N blocks (lifetimes) or segments (40)",
     .min = 1,
     .max = 10000,
     .no_env = true},
    {.name = "title",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_plot_cmd_opts, title),
     .value_name = "TEXT",
     .help = "print TEXT above the picture"},
    {.name = "labels",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_plot_cmd_opts, labels),
     .value_name = "A,B,...",
     .help = "name the runs (default: where file names differ)"},
    {.name = "width",
     .type = ML_OPT_INT,
     .offset = offsetof(struct ml_plot_cmd_opts, width),
     .value_name = "PIXELS",
     .help = "set the width of the picture (1000)",
     .min = 300,
     .max = 20000},
    {.name = "height",
     .type = ML_OPT_INT,
     .offset = offsetof(struct ml_plot_cmd_opts, height),
     .value_name = "PIXELS",
     .help = "set the height of the picture (520, or as needed)",
     .min = 200,
     .max = 20000},
    {.name = "scale",
     .type = ML_OPT_NUMBER,
     .offset = offsetof(struct ml_plot_cmd_opts, scale),
     .value_name = "N",
     .help = "PNG: draw N dots for each pixel (2)",
     .min = 1,
     .max = 8},
    {.name = "dark",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_plot_cmd_opts, dark),
     .help = "draw light on dark (default: an SVG adapts)"},
    {.name = "json",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_plot_cmd_opts, instant.report.json),
     .help = "timeline: print its numbers as one JSON object instead of drawing it",
     .no_env = true},
    ML_OPTION_CHECKPOINTS,
    ML_OPTION_UNIT,
    ML_READ_OPTIONS,
};

static size_t count_labels(const char *text)
{
    size_t count = 1;

    for (; *text; text++)
        count += *text == ',';
    return count;
}

/* -1, or the exit code after an error was printed. */
static int check_baseline(struct ml_plot_pictures *p)
{
    const struct ml_plot_cmd_opts *opts = p->opts;

    if (opts->baseline && p->kind->draw != ml_draw_timeline)
        return ml_verb_usage_error(&ml_verb_plot,
                                   "--baseline is for curves over time; --kind %s has none",
                                   kind_names[opts->kind]);
    if (opts->baseline && opts->by != ML_PLOT_BY_CATEGORY)
        return ml_verb_usage_error(&ml_verb_plot,
                                   "--baseline draws curves, --by %s stacked areas; leave out one "
                                   "of them",
                                   by_names[opts->by]);
    return ml_baseline_parse(&ml_verb_plot, opts->baseline, &p->baseline);
}

static int check_json(const struct ml_plot_pictures *p)
{
    if (!p->opts->instant.report.json)
        return -1;
    if (p->kind->draw != ml_draw_timeline)
        return ml_verb_usage_error(&ml_verb_plot, "--json is for a timeline; --kind %s has none",
                                   kind_names[p->opts->kind]);
    if (p->count > 1 && p->opts->by != ML_PLOT_BY_RANK)
        return ml_verb_usage_error(&ml_verb_plot,
                                   "--json takes one trace at a time; remove '%s', or add --by "
                                   "rank",
                                   p->files[1]);
    if (p->opts->baseline)
        return ml_verb_usage_error(&ml_verb_plot, "--json and --baseline do not go together");
    return -1;
}

/* Whether the picture is one of calls, or may be. */
static bool may_show_calls(const struct ml_plot_pictures *p)
{
    return p->kind->draw == ml_draw_flame || p->kind->draw == ml_draw_icicle;
}

static int check_by(const struct ml_plot_pictures *p)
{
    int by = p->opts->by;
    bool calls = by == ML_PLOT_BY_STACK || by == ML_PLOT_BY_CALLERS;

    if (calls && !may_show_calls(p))
        return ml_verb_usage_error(&ml_verb_plot, "--by %s is for --kind flame or icicle",
                                   by_names[by]);
    if (by == ML_PLOT_BY_RANK && p->kind->draw != ml_draw_timeline)
        return ml_verb_usage_error(&ml_verb_plot, "--by rank is for a timeline; --kind %s has none",
                                   kind_names[p->opts->kind]);
    if (p->opts->of != ML_COST_LIVE && (!may_show_calls(p) || by == ML_PLOT_BY_MODULE))
        return ml_verb_usage_error(&ml_verb_plot,
                                   "--of is for --kind flame or icicle --by stack or callers");
    return -1;
}

static int check_timeline(const struct ml_plot_pictures *p)
{
    const struct ml_plot_cmd_opts *opts = p->opts;
    bool one = p->kind->draw == ml_draw_timeline && p->count == 1 && !opts->baseline &&
               opts->by != ML_PLOT_BY_RANK;

    if (opts->instant.process && !one)
        return ml_verb_usage_error(&ml_verb_plot,
                                   "--process is for a timeline of one run, without --baseline "
                                   "and --by rank");
    if (opts->depth && (!one || opts->by != ML_PLOT_BY_MODULE))
        return ml_verb_usage_error(&ml_verb_plot,
                                   "--depth is for a timeline of one run by module: add --by "
                                   "module");
    return -1;
}

static int check(struct ml_plot_pictures *p)
{
    const struct ml_plot_cmd_opts *opts = p->opts;
    int status;

    if (p->count == 0)
        return ml_verb_usage_error(&ml_verb_plot, "no trace given; name one or more .mled files");
    if (p->kind->several == ML_PLOT_ALONE && p->count > 1)
        return ml_verb_usage_error(&ml_verb_plot,
                                   "--kind %s takes one trace at a time; remove '%s'",
                                   kind_names[opts->kind], p->files[1]);
    if (opts->labels && count_labels(opts->labels) != p->count)
        return ml_verb_usage_error(&ml_verb_plot, "--labels: %zu names for %zu files",
                                   count_labels(opts->labels), p->count);
    if (!ml_picture_format_of(opts->output, &p->output.format))
        return ml_verb_usage_error(&ml_verb_plot,
                                   "%s: unknown format; the name must end in .svg, .png or .pdf",
                                   opts->output);
    if (opts->from_ns >= opts->to_ns)
        return ml_verb_usage_error(&ml_verb_plot, "--from is not before --to");
    if (p->kind->of_a_time && opts->instant.at)
        return ml_verb_usage_error(&ml_verb_plot,
                                   "--kind %s has no --at; --from and --to choose "
                                   "the time that it shows",
                                   kind_names[opts->kind]);
    if (opts->axes == ML_PLOT_AXES_EACH && (!opts->grid || p->kind->draw != ml_draw_categories))
        return ml_verb_usage_error(&ml_verb_plot,
                                   "--axes is for several charts in one picture; add --kind "
                                   "categories --grid");
    if (opts->gross && opts->instant.at)
        return ml_verb_usage_error(&ml_verb_plot, "--gross covers the whole run; leave out --at");
    status = check_by(p);
    if (status < 0)
        status = check_timeline(p);
    if (status < 0)
        status = check_json(p);
    if (status < 0)
        status = check_baseline(p);
    if (status >= 0)
        return status;
    status = ml_expected_total_parse(&ml_verb_plot, opts->expected, &p->expected);
    return status >= 0 ? status : ml_instant_parse(&ml_verb_plot, opts->instant.at, &p->at);
}

/* The first time at which a run is known, of those that kept only their last part; else 0. Ranks
 * have an axis of their own. */
static uint64_t kept_from(const struct ml_plot_pictures *p)
{
    uint64_t from_ns = UINT64_MAX;

    for (size_t i = 0; i < p->count; i++)
        from_ns = ml_min_u64(from_ns, ml_trace_kept_from(p->traces[i]));
    return p->count && p->opts->by != ML_PLOT_BY_RANK ? from_ns : 0;
}

/* A window after the end of all runs, or before the time that was kept, would give an empty
 * picture. */
static int check_window(const struct ml_plot_pictures *p, uint64_t kept_ns)
{
    uint64_t end_ns = 0;
    char end[32];

    if (p->opts->to_ns <= kept_ns) {
        ml_say("--to: the recording begins at %s; what came before was not kept",
               ml_format_duration_ns(end, (int64_t)kept_ns));
        return ML_EXIT_FAILURE;
    }
    for (size_t i = 0; i < p->count; i++)
        end_ns = ml_max_u64(end_ns, ml_trace_info(p->traces[i])->end_ns);
    if (p->opts->from_ns == 0 && p->opts->to_ns == UINT64_MAX)
        return ML_EXIT_OK;
    if (ml_plot_no_times(p, 0, p->count)) {
        ml_say("--from and --to: this recording has no times");
        return ML_EXIT_FAILURE;
    }
    if (p->opts->from_ns < end_ns || p->opts->by == ML_PLOT_BY_RANK)
        return ML_EXIT_OK; /* ranks begin one after the other */
    ml_say("--from: the recording ended at %s", ml_format_duration_ns(end, (int64_t)end_ns));
    return ML_EXIT_FAILURE;
}

/* Only logs of nvidia-smi take an interval. */
static const char *way_to_times(const struct ml_trace *trace)
{
    const char *format = ml_trace_setting(trace, ML_SETTING_IMPORT_FORMAT);

    return format && strcmp(format, "nvidia-smi") == 0
               ? "import its log again with memledger import --interval TIME, or plot it alone"
               : "plot it alone";
}

/* Numbers of events have no place on an axis of time. */
static int check_times(const struct ml_plot_pictures *p)
{
    if (p->kind->several != ML_PLOT_TOGETHER || ml_plot_no_times(p, 0, p->count))
        return ML_EXIT_OK;
    for (size_t i = 0; i < p->count; i++) {
        if (!ml_plot_no_times(p, i, 1))
            continue;
        ml_say("%s has no times, unlike other runs of this picture; %s", p->files[i],
               way_to_times(p->traces[i]));
        return ML_EXIT_FAILURE;
    }
    return ML_EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct ml_plot_cmd_opts opts = {.output = DEFAULT_OUTPUT,
                                    .width = DEFAULT_WIDTH,
                                    .to_ns = UINT64_MAX,
                                    .top = 40,
                                    .scale = 2};
    struct ml_plot_pictures plot = {.opts = &opts};
    int first, status = ml_verb_begin(&ml_verb_plot, &opts, argc, argv, &first);
    uint64_t kept_ns = 0;

    if (status >= 0)
        return status;
    plot.count = (size_t)(argc - first);
    plot.files = (const char *const *)&argv[first];
    plot.kind = &kinds[opts.kind];
    plot.output = (struct ml_picture_opts){.dark = opts.dark, .scale = opts.scale};
    status = check(&plot);
    if (status >= 0)
        return status;
    status = ml_plot_open(&plot);
    if (status == ML_EXIT_OK) {
        kept_ns = kept_from(&plot);
        status = check_window(&plot, kept_ns);
    }
    opts.from_ns = ml_max_u64(opts.from_ns, kept_ns);
    if (status == ML_EXIT_OK)
        status = check_times(&plot);
    if (status == ML_EXIT_OK)
        status = ml_plot_draw(&plot);
    ml_plot_release(&plot);
    return status;
}

const struct ml_verb ml_verb_plot = {
    .name = "plot",
    .summary = "draw memory over time, by category, module, block or segment",
    .usage = "[OPTION]... FILE...",
    .group = ML_GROUP_LOOK,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
