/* cmd_plot.c: `memledger plot`: live bytes over time, one curve per recording.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "event_names.h"
#include "io.h"
#include "plot_series.h"
#include "report_command.h"
#include "run_names.h"
#include "verbs.h"

#define DEFAULT_OUTPUT "memledger-plot.svg"

struct plot_opts {
    struct ml_report_opts report; /* first, as its option entries want it */
    const char *output, *title, *labels;
    int64_t width, height;
    bool dark;
};

static const struct ml_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = ML_OPT_STRING,
     .offset = offsetof(struct plot_opts, output),
     .value_name = "FILE.svg",
     .help = "where to write the picture (" DEFAULT_OUTPUT ")",
     .no_env = true},
    {.name = "title",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct plot_opts, title),
     .value_name = "TEXT",
     .help = "what stands above the picture"},
    {.name = "labels",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct plot_opts, labels),
     .value_name = "A,B,...",
     .help = "names of the curves, instead of what sets the files' names apart"},
    {.name = "width",
     .type = ML_OPT_INT,
     .offset = offsetof(struct plot_opts, width),
     .value_name = "PIXELS",
     .help = "width of the picture (1000)",
     .min = 300,
     .max = 20000},
    {.name = "height",
     .type = ML_OPT_INT,
     .offset = offsetof(struct plot_opts, height),
     .value_name = "PIXELS",
     .help = "height of the picture (520)",
     .min = 200,
     .max = 20000},
    {.name = "dark",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct plot_opts, dark),
     .help = "light on dark everywhere; without it the picture follows the screen"},
    ML_OPTION_UNIT,
    ML_OPTION_SALVAGE,
};

struct plot {
    const struct plot_opts *opts;
    struct ml_plot_opts picture;
    size_t count, buckets;
    struct ml_level_caps caps;
    const char *const *files;
    struct ml_trace **traces;
    struct ml_plot_run *runs;
    ml_plot_series_list series;
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

static const char *title_of(const struct plot *p)
{
    const char *command = ml_trace_setting(p->traces[0], "command");

    if (p->opts->title)
        return p->opts->title;
    if (p->count > 1)
        return ml_plot_run_is_sampled(&p->runs[0]) ? "Memory in use over time"
                                                   : "Live memory over time";
    return command && *command ? command : p->names[0];
}

static size_t count_labels(const char *text)
{
    size_t count = 1;

    for (; *text; text++)
        count += *text == ',';
    return count;
}

/* ---- Data -------------------------------------------------------------- */

static int alloc_plot(struct plot *p)
{
    p->traces = calloc(p->count, sizeof(struct ml_trace *));
    p->runs = calloc(p->count, sizeof(*p->runs));
    p->names = calloc(p->count, sizeof(*p->names));
    if (!p->traces || !p->runs || !p->names)
        return -ENOMEM;
    return p->opts->labels ? split_labels(p)
                           : ml_run_names(p->files, p->count, &p->arena, p->names);
}

static void release_plot(struct plot *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->traces)
            ml_trace_free(p->traces[i]);
        if (p->runs) {
            ml_timeline_release(&p->runs[i].timeline);
            ml_sample_curves_release(&p->runs[i].sampled);
        }
    }
    ml_level_caps_release(&p->caps);
    free(p->traces);
    free(p->runs);
    ml_vec_release(&p->series);
    free(p->names);
    ml_arena_release(&p->arena);
}

/* On standard error: a picture has no place for it. */
static void tell_levels(const struct ml_level_caps *caps)
{
    uint32_t cursor = 0, level;
    const char *device;

    while ((device = ml_level_caps_next(caps, &cursor, &level)))
        fprintf(stderr,
                "memledger: %s is counted at the level %s, the highest that all runs have\n",
                device, ml_level_name(level));
}

/* All are opened first: the longest run decides what a bucket is, and together they
 * decide at which level a device is counted. */
static int read_runs(struct plot *p)
{
    struct ml_timeline_opts opts = {.buckets = p->buckets, .caps = &p->caps};
    struct ml_error err = {0};

    for (size_t i = 0; i < p->count; i++) {
        p->traces[i] = ml_report_open(p->files[i], &p->opts->report);
        if (!p->traces[i])
            return ML_EXIT_FAILURE;
        if (ml_level_caps_add(&p->caps, p->traces[i]) < 0)
            return ml_report_fail(&err);
        opts.span_ns = ml_max_u64(opts.span_ns, ml_trace_info(p->traces[i])->end_ns);
    }
    for (size_t i = 0; i < p->count; i++) {
        struct ml_plot_run *run = &p->runs[i];

        run->name = p->names[i];
        if (ml_timeline(p->traces[i], &opts, &run->timeline, &err) < 0 ||
            ml_sample_curves(p->traces[i], &opts, &run->sampled, &err) < 0)
            return ml_report_fail(&err);
        ml_report_warn(&run->timeline.health, p->count > 1 ? p->names[i] : NULL);
    }
    tell_levels(&p->caps);
    if (ml_plot_choose(p->runs, p->count, &p->series) < 0)
        return ml_report_fail(&err);
    return ML_EXIT_OK;
}

/* ---- Output ------------------------------------------------------------ */

static int write_file(const char *path, const struct ml_buf *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int r = fd < 0 ? -errno : ml_write_all(fd, text->data, text->len);

    if (fd >= 0 && close(fd) < 0 && r == 0)
        r = -errno;
    if (r == 0)
        return ML_EXIT_OK;
    fprintf(stderr, "memledger: %s: cannot write the picture: %s\n", path, strerror(-r));
    return ML_EXIT_FAILURE;
}

static int draw(struct plot *p)
{
    struct ml_buf out;
    int status;

    ml_buf_init(&out);
    if (ml_svg_plot(p->series.items, p->series.len, p->buckets, &p->picture, &out) < 0)
        status = ml_report_fail(&(struct ml_error){0});
    else
        status = write_file(p->opts->output, &out);
    ml_buf_release(&out);
    if (status == ML_EXIT_OK)
        printf("%s\n", p->opts->output);
    return status;
}

static int check_output(const char *output)
{
    const char *dot = strrchr(output, '.');

    if (dot && strcasecmp(dot, ".svg") == 0)
        return 0;
    return ml_verb_usage_error(&ml_verb_plot,
                               "%s: pictures are written as .svg only; turn one into PNG or PDF "
                               "with rsvg-convert or a browser",
                               output);
}

/* ---- The command ------------------------------------------------------- */

static int plot_runs(struct plot *p)
{
    int status;

    if (alloc_plot(p) < 0)
        return ml_report_fail(&(struct ml_error){0});
    p->picture = (struct ml_plot_opts){
        .width = (unsigned)p->opts->width,
        .height = (unsigned)p->opts->height,
        .dark = p->opts->dark,
        .unit = (enum ml_unit)p->opts->report.unit,
    };
    p->buckets = ml_svg_plot_buckets(&p->picture);
    status = read_runs(p);
    if (status != ML_EXIT_OK)
        return status;
    p->picture.title = title_of(p);
    p->picture.what = ml_plot_run_is_sampled(&p->runs[0]) ? "memory in use" : "live memory";
    return draw(p);
}

static int run(int argc, char **argv)
{
    struct plot_opts opts = {.output = DEFAULT_OUTPUT, .width = 1000, .height = 520};
    struct plot plot = {.opts = &opts};
    int first, status = ml_verb_begin(&ml_verb_plot, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    plot.count = (size_t)(argc - first);
    plot.files = (const char *const *)&argv[first];
    if (plot.count == 0)
        return ml_verb_usage_error(&ml_verb_plot, "which traces? Give one .mled file or more");
    if (opts.labels && count_labels(opts.labels) != plot.count)
        return ml_verb_usage_error(&ml_verb_plot, "--labels: %zu names for %zu files",
                                   count_labels(opts.labels), plot.count);
    status = check_output(opts.output);
    if (status != 0)
        return status;
    status = plot_runs(&plot);
    release_plot(&plot);
    return status;
}

const struct ml_verb ml_verb_plot = {
    .name = "plot",
    .summary = "draw live memory over time, one curve per run",
    .usage = "[OPTION]... FILE...",
    .group = ML_GROUP_READ,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
