/* plot_frame.c: see plot_frame.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plot_frame.h"

#include <math.h>
#include <string.h>

#include "event_names.h"
#include "snapshot_report.h"

#define TITLE_PX 18
#define SWATCH_LINE_PX 34
#define SWATCH_BOX_PX 16
#define ENTRY_GAP_PX 26
#define NAME_MAX_PX 330 /* of an entry of the legend */

static const struct ml_lettering quiet = {.ink = ML_INK_QUIET};

/* ---- Title ------------------------------------------------------------- */

double ml_frame_title(struct ml_canvas *canvas, const struct ml_plot_opts *opts,
                      const char *subtitle)
{
    const struct ml_lettering title = {.size = TITLE_PX, .bold = true};
    double room = (double)opts->width - 2 * ML_PLOT_MARGIN_PX;
    double y = ML_PLOT_MARGIN_PX + 14;

    canvas->width = opts->width;
    canvas->height = opts->height;
    canvas->title = ml_canvas_printf(canvas, "%s", opts->title);
    ml_draw_text_within(canvas, &title, ML_PLOT_MARGIN_PX, y, room, opts->title);
    if (*subtitle) {
        y += ML_PLOT_LINE_PX;
        ml_draw_text_within(canvas, &quiet, ML_PLOT_MARGIN_PX, y, room, subtitle);
    }
    return y + 12;
}

const char *ml_frame_instant(struct ml_canvas *canvas, const struct ml_snapshot *at,
                             enum ml_unit unit)
{
    char bytes[32], blocks[32], when[128];

    return ml_canvas_printf(canvas, "%s live in %s block%s%s%s%s",
                            ml_format_bytes(bytes, (int64_t)at->bytes, unit),
                            ml_format_count(blocks, (int64_t)at->blocks),
                            at->blocks == 1 ? "" : "s", at->device ? " on " : "",
                            at->device ? at->device : "", ml_instant_phrase(&at->instant, when));
}

const char *ml_plot_on_device(struct ml_canvas *canvas, const char *what,
                              const struct ml_plot_opts *opts)
{
    if (opts->adds_devices)
        return ml_canvas_printf(canvas, "%s, sum of all devices", what);
    return opts->device ? ml_canvas_printf(canvas, "%s on %s", what, opts->device) : what;
}

/* ---- Axes -------------------------------------------------------------- */

void ml_frame_place(struct ml_plot_area *frame, const struct ml_canvas *canvas, double top)
{
    frame->left = ML_PLOT_AXIS_LEFT_PX;
    frame->right = (double)canvas->width - ML_PLOT_MARGIN_PX - 8;
    frame->top = top;
    frame->bottom = (double)canvas->height - ML_PLOT_AXIS_BELOW_PX;
    if (frame->right < frame->left + 10)
        frame->right = frame->left + 10;
    if (frame->bottom < frame->top + 10)
        frame->bottom = frame->top + 10;
}

void ml_frame_time(struct ml_plot_area *frame, struct ml_canvas *canvas,
                   const struct ml_plot_opts *opts, uint64_t from_ns, uint64_t span_ns,
                   const char *things)
{
    frame->from_ns = (double)from_ns;
    frame->time = opts->no_times ? ml_scale_count(span_ns, 8) : ml_scale_time(span_ns, 8);
    frame->time_words =
        opts->no_times
            ? ml_canvas_printf(canvas, "%s, in their order: the recording has no times", things)
            : ml_canvas_printf(canvas, "time since the start of the run (%s)",
                               frame->time.unit_name);
}

void ml_frame_raise(struct ml_plot_area *frame, double pixels)
{
    struct ml_scale *s = &frame->bytes;

    s->end += (s->end - s->begin) * pixels / (frame->bottom - frame->top);
}

double ml_frame_x(const struct ml_plot_area *frame, double time_ns)
{
    return frame->left +
           (frame->right - frame->left) * (time_ns - frame->from_ns) / frame->time.end;
}

double ml_frame_y(const struct ml_plot_area *frame, double bytes)
{
    const struct ml_scale *s = &frame->bytes;

    return frame->bottom - (frame->bottom - frame->top) * (bytes - frame->baseline - s->begin) /
                               (s->end - s->begin);
}

void ml_frame_byte_axis(struct ml_canvas *canvas, const struct ml_plot_area *frame,
                        const char *what)
{
    const struct ml_pen grid = {.stroke = ML_INK_GRID, .width = 1};
    const struct ml_pen axis = {.stroke = ML_INK_AXIS, .width = 1};
    const struct ml_lettering at_mark = {.ink = ML_INK_QUIET, .anchor = ML_ANCHOR_END};
    const struct ml_lettering upright = {
        .ink = ML_INK_QUIET, .anchor = ML_ANCHOR_MIDDLE, .degrees = -90};
    const struct ml_scale *s = &frame->bytes;
    char number[32];

    for (int i = (int)ceil(s->begin / s->step); i * s->step <= s->end; i++) {
        double y = ml_frame_y(frame, i * s->step);

        ml_draw_line(canvas, i ? &grid : &axis, frame->left, y, frame->right, y);
        ml_draw_text(canvas, &at_mark, frame->left - 8, y + ML_TEXT_PX * 0.35,
                     ml_scale_number(s, i * s->step, number));
    }
    ml_draw_text(canvas, &upright, frame->left - ML_PLOT_AXIS_LEFT_PX + ML_TEXT_PX + 5,
                 (frame->top + frame->bottom) / 2,
                 ml_canvas_printf(canvas, "%s (%s)", what, s->unit_name));
}

bool ml_frame_mark(const struct ml_plot_area *frame, int i, double *ret)
{
    const struct ml_scale *s = &frame->time;
    double first = fmax(ceil(frame->from_ns / s->step - 1e-9), 0); /* no negative zero */

    *ret = (first + i) * s->step;
    return *ret <= frame->from_ns + s->end * (1 + 1e-9);
}

void ml_frame_time_axis(struct ml_canvas *canvas, const struct ml_plot_area *frame)
{
    const struct ml_pen axis = {.stroke = ML_INK_AXIS, .width = 1};
    const struct ml_lettering middle = {.ink = ML_INK_QUIET, .anchor = ML_ANCHOR_MIDDLE};
    const struct ml_scale *s = &frame->time;
    char number[32];
    double at;

    ml_draw_line(canvas, &axis, frame->left, frame->bottom, frame->right, frame->bottom);
    for (int i = 0; ml_frame_mark(frame, i, &at); i++) {
        double x = ml_frame_x(frame, at);

        ml_draw_line(canvas, &axis, x, frame->bottom, x, frame->bottom + 5);
        ml_draw_text(canvas, &middle, x, frame->bottom + 8 + ML_TEXT_PX,
                     ml_scale_number(s, at, number));
    }
    ml_draw_text(canvas, &middle, (frame->left + frame->right) / 2,
                 frame->bottom + 16 + 2 * ML_TEXT_PX, frame->time_words);
}

/* ---- Legend ------------------------------------------------------------ */

static double swatch_px(const struct ml_legend_entry *e)
{
    return e->line ? SWATCH_LINE_PX : SWATCH_BOX_PX;
}

static double name_px(const struct ml_legend_entry *e)
{
    double width = ml_text_width(e->name, ML_TEXT_PX, true);

    return width < NAME_MAX_PX ? width : NAME_MAX_PX;
}

static double entry_px(const struct ml_legend_entry *e)
{
    return swatch_px(e) + 6 + name_px(e) + (*e->value ? 6 : 0) +
           ml_text_width(e->value, ML_TEXT_PX, false);
}

static void draw_entry(struct ml_canvas *canvas, const struct ml_legend_entry *e, double x,
                       double y, double right)
{
    const struct ml_lettering bold = {.bold = true};
    double swatch = swatch_px(e), behind;

    if (e->line)
        ml_draw_line(canvas, &e->pen, x, y - ML_TEXT_PX * 0.35, x + swatch, y - ML_TEXT_PX * 0.35);
    else
        ml_draw_box(canvas, &e->pen, x, y - ML_TEXT_PX + 1, swatch, ML_TEXT_PX);
    x += swatch + 6;
    ml_draw_text_within(canvas, &bold, x, y, name_px(e) < right - x ? name_px(e) + 1 : right - x,
                        e->name);
    behind = x + name_px(e) + 6;
    ml_draw_text_within(canvas, &quiet, behind, y, right - behind, e->value);
}

double ml_legend(struct ml_canvas *canvas, const struct ml_legend_entry *entries, size_t count,
                 double left, double right, double y, bool draw)
{
    double x = left;

    for (size_t i = 0; i < count; i++) {
        double width = entry_px(&entries[i]);

        if (x > left && x + width > right) {
            x = left;
            y += ML_PLOT_LINE_PX;
        }
        if (draw)
            draw_entry(canvas, &entries[i], x, y, right);
        x += width + ENTRY_GAP_PX;
    }
    return y + ML_PLOT_LINE_PX;
}

/* ---- Parts ------------------------------------------------------------- */

struct ml_pen ml_part_pen(size_t part)
{
    /* Neighbours in the usual order of the categories differ in both. */
    static const enum ml_hatch hatches[ML_PARTS_MAX] = {
        ML_HATCH_NONE,    ML_HATCH_NONE,    ML_HATCH_LEVEL,   ML_HATCH_FALLING, ML_HATCH_DOTTED,
        ML_HATCH_NONE,    ML_HATCH_RISING,  ML_HATCH_UPRIGHT, ML_HATCH_DENSE,   ML_HATCH_LEVEL,
        ML_HATCH_CROSSED, ML_HATCH_FALLING, ML_HATCH_RISING,
    };

    part %= ML_PARTS_MAX;
    return (struct ml_pen){
        .fill = (enum ml_ink)(ML_INK_PART + part),
        .hatch = hatches[part],
        .stroke = ML_INK_PAPER,
        .width = 0.5,
    };
}

const char *ml_category_words(struct ml_canvas *canvas, uint64_t category)
{
    char words[64] = "";

    strncpy(words, ml_category_name(category), sizeof(words) - 1);
    for (char *at = words; *at; at++)
        *at = *at == '_' ? ' ' : *at;
    return ml_canvas_printf(canvas, "%s", words);
}
