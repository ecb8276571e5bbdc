/* plot_pictures.c: see plot_pictures.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plot_pictures.h"

#include <stdlib.h>
#include <string.h>

#include "output_file.h"
#include "part_guard.h"
#include "plot_title.h"
#include "run_names.h"
#include "say.h"
#include "verbs.h"

/* ---- Names ------------------------------------------------------------- */

/* The comma-separated names that the user gave, one for each file. */
static int split_labels(struct ml_plot_pictures *p)
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

/* @return 0 or -ENOMEM */
static int name_runs(struct ml_plot_pictures *p)
{
    int r;

    p->common_name = "";
    if (p->opts->labels)
        return split_labels(p);
    r = ml_run_names(p->files, p->count, &p->arena, p->names);
    if (r == 0)
        p->common_name = ml_run_names_common(p->files, p->names, p->count, &p->arena);
    return p->common_name ? r : -ENOMEM;
}

/* NULL: the kind decides. */
static const char *title_of(struct ml_plot_pictures *p, size_t first, size_t count)
{
    if (count > 1)
        return p->opts->title;
    return ml_plot_title_of_run(p->traces[first], p->names[first], p->opts->title, p->count > 1,
                                &p->arena);
}

/* ---- Recordings -------------------------------------------------------- */

int ml_plot_open(struct ml_plot_pictures *p)
{
    p->traces = calloc(p->count, sizeof(struct ml_trace *));
    p->names = calloc(p->count, sizeof(*p->names));
    if (!p->traces || !p->names || name_runs(p) < 0)
        return ml_report_fail(&(struct ml_error){0});
    for (size_t i = 0; i < p->count; i++) {
        p->traces[i] = p->count == 1 || p->opts->by == ML_PLOT_BY_RANK
                           ? ml_instant_open(p->files[i], &p->opts->instant)
                           : ml_report_open(p->files[i], &p->opts->instant.report);
        if (!p->traces[i])
            return ML_EXIT_FAILURE;
    }
    return ML_EXIT_OK;
}

void ml_plot_release(struct ml_plot_pictures *p)
{
    for (size_t i = 0; p->traces && i < p->count; i++)
        ml_trace_free(p->traces[i]);
    free(p->traces);
    free(p->names);
    ml_arena_release(&p->arena);
}

/* ---- Output ------------------------------------------------------------ */

/* With --force a complete picture replaces an existing one. */
static int write_canvas(const struct ml_plot_pictures *p, const struct ml_canvas *canvas,
                        const char *path)
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

/* ---- Drawing ----------------------------------------------------------- */

bool ml_plot_no_times(const struct ml_plot_pictures *p, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        if (!ml_trace_lacks_times(p->traces[i]))
            return false;
    return true;
}

/* Whether memory of several devices is added up in the picture. */
static bool adds_devices(const struct ml_plot_pictures *p, size_t first, size_t count)
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
static int draw(struct ml_plot_pictures *p, size_t first, size_t count, const char *path)
{
    struct ml_plot_request request = {
        .opts = p->opts,
        .at = p->at,
        .expected = p->expected,
        .baseline = p->baseline,
        .picture = {.title = title_of(p, first, count),
                    .width = (unsigned)p->opts->width,
                    .height = p->opts->height ? (unsigned)p->opts->height : p->kind->height,
                    .unit = (enum ml_unit)p->opts->instant.report.unit,
                    .device = p->opts->instant.device,
                    .adds_devices = adds_devices(p, first, count),
                    .no_times = ml_plot_no_times(p, first, count)},
        .names = p->names + first,
        .common_name = p->common_name,
        .traces = p->traces + first,
        .count = count,
    };
    struct ml_canvas canvas = {0};
    struct ml_buf numbers = {0};
    int status;

    if (count == 1 && !request.picture.title)
        return ml_report_fail(&(struct ml_error){0});
    request.numbers = p->opts->instant.report.json ? &numbers : NULL;
    status = p->kind->draw(&request, &canvas);

    if (status == ML_EXIT_OK)
        status = request.numbers ? ml_report_write(&numbers) : write_canvas(p, &canvas, path);
    ml_buf_release(&numbers);
    ml_canvas_release(&canvas);
    return status;
}

/* "out.svg" with the name of the run before the suffix: "out-fft.svg". */
static const char *path_of(struct ml_plot_pictures *p, size_t i)
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
static int check_names(const struct ml_plot_pictures *p)
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

int ml_plot_draw(struct ml_plot_pictures *p)
{
    int status;

    if (p->count == 1 || p->kind->several == ML_PLOT_TOGETHER || p->opts->grid)
        return draw(p, 0, p->count, p->opts->output);
    status = check_names(p);
    for (size_t i = 0; status == ML_EXIT_OK && i < p->count; i++) {
        const char *path = path_of(p, i);

        status = path ? draw(p, i, 1, path) : ml_report_fail(&(struct ml_error){0});
    }
    return status;
}
