/* cmd_plot.c: `memledger plot`: pictures of recordings, as SVG, PNG or PDF.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dictionary_option.h"
#include "output_file.h"
#include "part_guard.h"
#include "plot_request.h"
#include "run_names.h"
#include "say.h"
#include "unknowns.h"
#include "verbs.h"

#define DEFAULT_OUTPUT "memledger-plot.svg"
#define DEFAULT_WIDTH 1000

/* ---- Kinds ------------------------------------------------------------- */

struct kind {
    ml_plot_draw_fn *draw;
    unsigned height;                        /* by default; 0: the drawing decides */
    enum { TOGETHER, ALONE, EACH } several; /* how several recordings are drawn */
    bool of_a_time;                         /* --from and --to, instead of --at */
};

/* In the order of their names below. */
static const struct kind kinds[] = {
    {ml_draw_timeline, 520, TOGETHER, true}, {ml_draw_bars, 560, ALONE, false},
    {ml_draw_categories, 0, EACH, false},    {ml_draw_flame, 0, ALONE, false},
    {ml_draw_icicle, 0, ALONE, false},       {ml_draw_lifetimes, 0, ALONE, true},
    {ml_draw_segments, 0, ALONE, false},
};
static const char *const kind_names[] = {"timeline", "bars",      "categories", "flame",
                                         "icicle",   "lifetimes", "segments",   NULL};
static const char *const by_names[] = {"category", "module", "device", NULL};

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
     .help = "stack the timeline of one run by category (default), module or device",
     .no_env = true},
    ML_OPTION_AT,
    ML_OPTION_DEVICE,
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
    ML_OPTION_UNIT,
    ML_READ_OPTIONS,
};

struct plot {
    const struct ml_plot_cmd_opts *opts;
    const struct kind *kind;
    struct ml_picture_opts output;
    struct ml_at at;
    struct ml_expected_total expected;
    size_t count;
    const char *const *files;
    struct ml_trace **traces;
    const char **names;
    struct ml_arena arena;
};

/* ---- Names ------------------------------------------------------------- */

/* The comma-separated names that the user gave, one for each file. */
static int split_labels(struct plot *p)
{
    const char *text = p->opts->labels;

    for (size_t i = 0; i < p->count; i++) {
        size_t len = strcspn(text, ",");

        p->names[i] = ml_arena_dup(&p->arena, text, len);
        if (!p->names[i])
            return -ENOMEM;
        text += len + (text[len] == ',');
    }
    return 0;
}

static size_t count_labels(const char *text)
{
    size_t count = 1;

    for (; *text; text++)
        count += *text == ',';
    return count;
}

/* The --title; else the command of a single run; else NULL, and the kind decides. */
static const char *title_of(const struct plot *p, size_t first, size_t count)
{
    const char *command = ml_trace_setting(p->traces[first], "command");

    if (p->opts->title || count > 1)
        return p->opts->title;
    return command && *command ? command : p->names[first];
}

/* ---- Recordings -------------------------------------------------------- */

static int open_all(struct plot *p)
{
    p->traces = calloc(p->count, sizeof(struct ml_trace *));
    p->names = calloc(p->count, sizeof(*p->names));
    if (!p->traces || !p->names ||
        (p->opts->labels ? split_labels(p)
                         : ml_run_names(p->files, p->count, &p->arena, p->names)) < 0)
        return ml_report_fail(&(struct ml_error){0});
    for (size_t i = 0; i < p->count; i++) {
        p->traces[i] = ml_report_open(p->files[i], &p->opts->instant.report);
        if (!p->traces[i])
            return ML_EXIT_FAILURE;
    }
    return ML_EXIT_OK;
}

static void release(struct plot *p)
{
    for (size_t i = 0; p->traces && i < p->count; i++)
        ml_trace_free(p->traces[i]);
    free(p->traces);
    free(p->names);
    ml_arena_release(&p->arena);
}

/* ---- Output ------------------------------------------------------------ */

/* With --force a complete picture replaces an existing one. */
static int write_canvas(const struct plot *p, const struct ml_canvas *canvas, const char *path)
{
    struct ml_error err = {0};
    struct ml_output out;
    int r;

    ml_part_hold(path);
    r = ml_output_open(&out, path, p->opts->force, &err);
    ml_part_guard(r == 0 ? out.written : NULL);
    if (r == 0) {
        r = ml_canvas_write(canvas, &p->output, &out.text, &err);
        if (r == 0)
            r = ml_output_commit(&out, &err);
        else
            ml_output_abort(&out);
    }
    ml_part_guard(NULL);
    if (r < 0)
        return ml_report_fail(&err);
    ml_say_path(path);
    return ML_EXIT_OK;
}

/* ---- The command ------------------------------------------------------- */

/* Whether all of them were imported from files without times. */
static bool no_times(const struct plot *p, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        const char *unknown = ml_trace_setting(p->traces[i], ML_SETTING_IMPORT_UNKNOWN);

        if (!(ml_unknowns_parse(unknown) & ML_UNKNOWN_TIMES))
            return false;
    }
    return true;
}

/* Whether memory of several devices is added up in the picture. */
static bool adds_devices(const struct plot *p, size_t first, size_t count)
{
    const char *one = NULL;

    if (p->opts->instant.device)
        return false;
    for (size_t i = first; i < first + count; i++) {
        uint32_t spaces = ml_trace_spaces(p->traces[i]);

        for (uint32_t k = 0; k < spaces; k++) {
            const struct ml_space *space = ml_trace_space(p->traces[i], k);
            const char *name = ml_trace_string(p->traces[i], space->device, NULL);

            if (one && strcmp(one, name))
                return true;
            one = name;
        }
    }
    return false;
}

/* Recordings from `first` on. */
static int draw(const struct plot *p, size_t first, size_t count, const char *path)
{
    struct ml_plot_request request = {
        .opts = p->opts,
        .at = p->at,
        .expected = p->expected,
        .picture = {.title = title_of(p, first, count),
                    .width = (unsigned)p->opts->width,
                    .height = p->opts->height ? (unsigned)p->opts->height : p->kind->height,
                    .unit = (enum ml_unit)p->opts->instant.report.unit,
                    .device = p->opts->instant.device,
                    .adds_devices = adds_devices(p, first, count),
                    .no_times = no_times(p, first, count)},
        .names = p->names + first,
        .traces = p->traces + first,
        .count = count,
    };
    struct ml_canvas canvas = {0};
    int status = p->kind->draw(&request, &canvas);

    if (status == ML_EXIT_OK)
        status = write_canvas(p, &canvas, path);
    ml_canvas_release(&canvas);
    return status;
}

/* "out.svg" with the name of the run before the suffix: "out-fft.svg". */
static const char *path_of(struct plot *p, size_t i)
{
    const char *output = p->opts->output, *end = strrchr(output, '.'), *path = NULL;
    struct ml_buf text = {0};

    if (ml_buf_printf(&text, "%.*s-", (int)(end - output), output) == 0 &&
        ml_buf_puts(&text, p->names[i]) == 0) {
        for (size_t k = (size_t)(end - output); k < text.len; k++)
            text.data[k] = text.data[k] == '/' ? '-' : text.data[k];
        if (ml_buf_puts(&text, end) == 0)
            path = ml_arena_dup(&p->arena, text.data, text.len);
    }
    ml_buf_release(&text);
    return path;
}

/* Two runs with the same name would share a file. */
static int check_names(const struct plot *p)
{
    for (size_t i = 1; i < p->count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(p->names[i], p->names[k]) == 0)
                return ml_verb_usage_error(&ml_verb_plot,
                                           "two pictures would have the name '%s'; name the runs "
                                           "with --labels",
                                           p->names[i]);
    return ML_EXIT_OK;
}

static int draw_all(struct plot *p)
{
    int status;

    if (p->count == 1 || p->kind->several == TOGETHER || p->opts->grid)
        return draw(p, 0, p->count, p->opts->output);
    status = check_names(p);
    for (size_t i = 0; status == ML_EXIT_OK && i < p->count; i++) {
        const char *path = path_of(p, i);

        status = path ? draw(p, i, 1, path) : ml_report_fail(&(struct ml_error){0});
    }
    return status;
}

static int check(struct plot *p)
{
    const struct ml_plot_cmd_opts *opts = p->opts;
    int status;

    if (p->count == 0)
        return ml_verb_usage_error(&ml_verb_plot, "no trace given; name one or more .mled files");
    if (p->kind->several == ALONE && p->count > 1)
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
    if (opts->gross && opts->instant.at)
        return ml_verb_usage_error(&ml_verb_plot, "--gross covers the whole run; leave out --at");
    status = ml_expected_total_parse(&ml_verb_plot, opts->expected, &p->expected);
    return status >= 0 ? status : ml_instant_parse(&ml_verb_plot, opts->instant.at, &p->at);
}

/* A window after the end of all runs would give an empty picture. */
static int check_window(const struct plot *p)
{
    uint64_t end_ns = 0;
    char end[32];

    for (size_t i = 0; i < p->count; i++)
        end_ns = ml_max_u64(end_ns, ml_trace_info(p->traces[i])->end_ns);
    if (p->opts->from_ns == 0 && p->opts->to_ns == UINT64_MAX)
        return ML_EXIT_OK;
    if (no_times(p, 0, p->count)) {
        ml_say("--from and --to: this recording has no times");
        return ML_EXIT_FAILURE;
    }
    if (p->opts->from_ns < end_ns)
        return ML_EXIT_OK;
    ml_say("--from: the recording ended at %s", ml_format_duration_ns(end, (int64_t)end_ns));
    return ML_EXIT_FAILURE;
}

static int run(int argc, char **argv)
{
    struct ml_plot_cmd_opts opts = {.output = DEFAULT_OUTPUT,
                                    .width = DEFAULT_WIDTH,
                                    .to_ns = UINT64_MAX,
                                    .top = 40,
                                    .scale = 2};
    struct plot plot = {.opts = &opts};
    int first, status = ml_verb_begin(&ml_verb_plot, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    plot.count = (size_t)(argc - first);
    plot.files = (const char *const *)&argv[first];
    plot.kind = &kinds[opts.kind];
    plot.output = (struct ml_picture_opts){.dark = opts.dark, .scale = opts.scale};
    status = check(&plot);
    if (status >= 0)
        return status;
    status = open_all(&plot);
    if (status == ML_EXIT_OK)
        status = check_window(&plot);
    if (status == ML_EXIT_OK)
        status = draw_all(&plot);
    release(&plot);
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
