/* plot_overlay.c: see plot_overlay.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plot_overlay.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "curve_baseline.h"

#define NAME_PX 24 /* above the highest curve */
#define FILL_OPACITY 0.2
#define FILL_OPACITY_MANY 0.1
#define FILLS_MAX 2 /* more would mix to brown and grey */

struct overlay {
    struct ml_canvas *canvas;
    const struct ml_plot_series *series;
    size_t count, buckets;
    const struct ml_plot_opts *opts;
    struct ml_plot_area frame;
};

size_t ml_plot_buckets(const struct ml_plot_opts *opts)
{
    const unsigned around = ML_PLOT_AXIS_LEFT_PX + 2 * ML_PLOT_MARGIN_PX;

    return opts->width > around ? 2 * (size_t)(opts->width - around) : 1;
}

/* ---- Colours ----------------------------------------------------------- */

/* A series of this name has the ink of this index; others take the remaining inks. */
static const char *const named[] = {"DIRECT", "IM2COL", "FFT", "WINOGRAD", "CUDNN"};

static int named_ink(const char *name)
{
    for (size_t i = 0; i < ML_ARRAY_SIZE(named); i++)
        if (strcasecmp(named[i], name) == 0)
            return (int)i;
    return -1;
}

static bool taken_by_name(const struct overlay *o, int ink)
{
    for (size_t i = 0; i < o->count; i++)
        if (named_ink(o->series[i].name) == ink)
            return true;
    return false;
}

static enum ml_ink ink_of(const struct overlay *o, size_t series)
{
    int own = named_ink(o->series[series].name);
    size_t unnamed_before = 0, free_seen = 0, free_total = 0;

    if (own >= 0)
        return (enum ml_ink)(ML_INK_SERIES + own);
    for (size_t i = 0; i < series; i++)
        unnamed_before += named_ink(o->series[i].name) < 0;
    for (int i = 0; i < ML_SERIES_MAX; i++)
        free_total += !taken_by_name(o, i);
    for (int i = 0; i < ML_SERIES_MAX; i++)
        if (!taken_by_name(o, i) && free_seen++ == unnamed_before % free_total)
            return (enum ml_ink)(ML_INK_SERIES + i);
    return ML_INK_SERIES;
}

static struct ml_pen line_pen(const struct overlay *o, size_t i)
{
    if (o->series[i].is_truth)
        return (struct ml_pen){.stroke = ML_INK_TEXT, .width = 1.1};
    return (struct ml_pen){.stroke = ink_of(o, i), .width = 1.8, .dash = (unsigned)(i % ML_DASHES)};
}

/* ---- Curves ------------------------------------------------------------ */

void ml_plot_steps(struct ml_canvas *canvas, const struct ml_plot_area *frame,
                   const struct ml_timeline *t, size_t buckets)
{
    uint64_t at_bytes = t->begin_bytes;

    for (size_t i = ml_timeline_first_bucket(t, buckets); i < t->buckets.len; i++) {
        const struct ml_timeline_bucket *b = &t->buckets.items[i];
        uint64_t values[3] = {b->min_first ? b->min_bytes : b->max_bytes,
                              b->min_first ? b->max_bytes : b->min_bytes, b->last_bytes};
        double x = ml_frame_x(frame, ml_timeline_time_ns(t, buckets, i));
        bool moved = false;

        for (size_t k = 0; k < 3; k++) {
            if (values[k] == at_bytes)
                continue;
            if (!moved)
                ml_draw_to(canvas, x, ml_frame_y(frame, (double)at_bytes));
            ml_draw_to(canvas, x, ml_frame_y(frame, (double)values[k]));
            at_bytes = values[k];
            moved = true;
        }
    }
    ml_draw_to(canvas, ml_frame_x(frame, (double)t->duration_ns),
               ml_frame_y(frame, (double)at_bytes));
}

void ml_plot_curve(struct ml_canvas *canvas, const struct ml_plot_area *frame,
                   const struct ml_timeline *t, size_t buckets, const struct ml_pen *pen)
{
    ml_draw_begin(canvas, pen);
    ml_draw_move(canvas, ml_frame_x(frame, (double)t->begin_ns),
                 ml_frame_y(frame, (double)t->begin_bytes));
    ml_plot_steps(canvas, frame, t, buckets);
}

/* The frame for the values of one curve. */
static struct ml_plot_area frame_of(const struct overlay *o, size_t i)
{
    struct ml_plot_area frame = o->frame;

    frame.baseline = (double)o->series[i].baseline_bytes;
    return frame;
}

static int64_t above_baseline(const struct ml_plot_series *s, uint64_t bytes)
{
    return (int64_t)(bytes - s->baseline_bytes);
}

static int64_t peak_of(const struct ml_plot_series *s)
{
    return above_baseline(s, s->timeline->peak_bytes);
}

/* Many runs are drawn as lines only, except the convolution algorithms: their picture is known. */
static double fill_opacity(const struct overlay *o)
{
    size_t runs = 0, unnamed = 0;

    for (size_t i = 0; i < o->count; i++) {
        runs += !o->series[i].is_truth;
        unnamed += !o->series[i].is_truth && named_ink(o->series[i].name) < 0;
    }
    if (runs <= FILLS_MAX)
        return FILL_OPACITY;
    return unnamed == 0 ? FILL_OPACITY_MANY : 0;
}

static void draw_fill(const struct overlay *o, size_t i, double opacity)
{
    const struct ml_timeline *t = o->series[i].timeline;
    const struct ml_pen fill = {.fill = ink_of(o, i), .opacity = opacity};
    const struct ml_plot_area frame = frame_of(o, i);
    double zero = ml_frame_y(&o->frame, 0);

    ml_draw_begin(o->canvas, &fill);
    ml_draw_move(o->canvas, ml_frame_x(&frame, (double)t->begin_ns), zero);
    ml_draw_to(o->canvas, ml_frame_x(&frame, (double)t->begin_ns),
               ml_frame_y(&frame, (double)t->begin_bytes));
    ml_plot_steps(o->canvas, &frame, t, o->buckets);
    ml_draw_to(o->canvas, ml_frame_x(&frame, (double)t->duration_ns), zero);
    ml_draw_close(o->canvas);
}

/* A dark edge makes pale colours visible; a ring marks the end of the run. */
static void draw_line(const struct overlay *o, size_t i)
{
    const struct ml_timeline *t = o->series[i].timeline;
    const struct ml_pen edge = {.stroke = ML_INK_EDGE, .width = 2.8, .opacity = 0.22};
    const struct ml_plot_area frame = frame_of(o, i);
    struct ml_pen pen = line_pen(o, i);
    uint64_t last = t->buckets.len ? t->buckets.items[t->buckets.len - 1].last_bytes : 0;

    if (!o->series[i].is_truth)
        ml_plot_curve(o->canvas, &frame, t, o->buckets, &edge);
    ml_plot_curve(o->canvas, &frame, t, o->buckets, &pen);
    if (o->series[i].is_truth)
        return;
    pen.dash = 0;
    pen.fill = ML_INK_PAPER;
    ml_draw_circle(o->canvas, &pen, ml_frame_x(&frame, (double)t->duration_ns),
                   ml_frame_y(&frame, (double)last), 3);
}

/* ---- Names at the peaks ------------------------------------------------ */

struct box {
    double x, y, width; /* of the text: left end, base line */
};

static bool overlap(const struct box *a, const struct box *b)
{
    return a->x < b->x + b->width + 4 && b->x < a->x + a->width + 4 &&
           a->y < b->y + ML_PLOT_LINE_PX - 4 && b->y < a->y + ML_PLOT_LINE_PX - 4;
}

/* Its name; a single curve shows its peak instead. */
static const char *point_text(const struct overlay *o, size_t i, char text[32])
{
    if (o->count > 1 && !o->series[1].is_truth)
        return o->series[i].name;
    return ml_format_bytes(text, peak_of(&o->series[i]), o->opts->unit);
}

/* Moves the box by lines of text until it is on no other. Those above the picture are the legend's.
 * @return whether it then is in the picture */
static bool move_box(struct box *box, const struct box *placed, size_t count, double step,
                     const struct ml_plot_area *f)
{
    bool again = true;

    while (again && box->y > f->top && box->y < f->bottom) {
        again = false;
        for (size_t k = 0; k < count && !again; k++)
            if (overlap(box, &placed[k])) {
                box->y = placed[k].y + step;
                again = true;
            }
    }
    return box->y - ML_TEXT_PX + 4 >= f->top && box->y < f->bottom;
}

/* Above the peak; where many peaks are close together, below it. */
static struct box place_name(const struct overlay *o, size_t i, const struct box *placed,
                             size_t count)
{
    const struct ml_timeline *t = o->series[i].timeline;
    const struct ml_plot_area frame = frame_of(o, i), *f = &frame;
    char text[32];
    struct box box = {.width = ml_text_width(point_text(o, i, text), ML_TEXT_PX, true)};
    double line = ML_PLOT_LINE_PX - 4;

    box.x = ml_frame_x(f, (double)t->peak_time_ns) - box.width / 2;
    box.x = box.x + box.width > f->right ? f->right - box.width : box.x;
    box.x = box.x < f->left + 4 ? f->left + 4 : box.x;
    box.y = ml_frame_y(f, (double)t->peak_bytes) - 9;
    if (!move_box(&box, placed, count, -line, f)) {
        box.y = ml_frame_y(f, (double)t->peak_bytes) + ML_PLOT_LINE_PX;
        (void)move_box(&box, placed, count, line, f);
    }
    return box;
}

static void draw_name(const struct overlay *o, size_t i, const struct box *box)
{
    const struct ml_timeline *t = o->series[i].timeline;
    const struct ml_pen axis = {.stroke = ML_INK_AXIS, .width = 1};
    const struct ml_lettering name = {.bold = true, .halo = true};
    const struct ml_plot_area frame = frame_of(o, i);
    struct ml_pen ring = line_pen(o, i);
    double x = ml_frame_x(&frame, (double)t->peak_time_ns);
    double y = ml_frame_y(&frame, (double)t->peak_bytes);
    char text[32];

    if (y - box->y > 2 * ML_PLOT_LINE_PX)
        ml_draw_line(o->canvas, &axis, x, y - 4, x, box->y + 4);
    ring.dash = 0;
    ring.fill = ML_INK_PAPER;
    ml_draw_circle(o->canvas, &ring, x, y, 3.5);
    ml_draw_text(o->canvas, &name, box->x, box->y, point_text(o, i, text));
}

static void draw_names(const struct overlay *o)
{
    ML_VEC(struct box) boxes = {0};

    for (size_t i = 0; i < o->count && o->canvas->error == 0; i++) {
        struct box box;

        if (o->series[i].is_truth)
            continue;
        box = place_name(o, i, boxes.items, boxes.len);
        draw_name(o, i, &box);
        if (ml_vec_push(&boxes, box) < 0)
            o->canvas->error = -ENOMEM;
    }
    ml_vec_release(&boxes);
}

/* ---- The picture ------------------------------------------------------- */

static double legend(const struct overlay *o, double y)
{
    ML_VEC(struct ml_legend_entry) entries = {0};
    char peak[32];

    for (size_t i = 0; i < o->count; i++) {
        const struct ml_plot_series *s = &o->series[i];
        struct ml_legend_entry entry = {.name = s->name, .pen = line_pen(o, i), .line = true};

        ml_format_bytes(peak, peak_of(s), o->opts->unit);
        entry.value =
            ml_canvas_printf(o->canvas, s->is_truth ? "in use, peak %s" : "peak %s", peak);
        entry.pen.width += s->is_truth ? 0 : 0.8;
        if (ml_vec_push(&entries, entry) < 0)
            o->canvas->error = -ENOMEM;
    }
    y = ml_legend(o->canvas, entries.items, entries.len, ML_PLOT_MARGIN_PX, o->frame.right, y,
                  true);
    ml_vec_release(&entries);
    return y;
}

static void find_scales(struct overlay *o, const char *things)
{
    int64_t lowest = 0, highest = 0;
    uint64_t span_ns = 0;

    for (size_t i = 0; i < o->count; i++) {
        const struct ml_plot_series *s = &o->series[i];
        int64_t low = above_baseline(s, ml_timeline_lowest(s->timeline, o->buckets));

        lowest = low < lowest ? low : lowest;
        highest = peak_of(s) > highest ? peak_of(s) : highest;
        span_ns = ml_max_u64(span_ns, s->timeline->span_ns);
    }
    o->frame.bytes = ml_scale_signed_bytes(lowest, highest, 8, o->opts->unit);
    ml_frame_time(&o->frame, o->canvas, o->opts, o->count ? o->series[0].timeline->from_ns : 0,
                  span_ns, things);
}

static void describe(const struct overlay *o, const char *what)
{
    const char *text =
        ml_canvas_printf(o->canvas, "%c%s over time.", toupper((unsigned char)what[0]), what + 1);
    char peak[32], duration[32];

    for (size_t i = 0; i < o->count; i++) {
        const struct ml_timeline *t = o->series[i].timeline;

        text = ml_canvas_printf(
            o->canvas, "%s %s: peak %s%s%s%s.", text, o->series[i].name,
            ml_format_bytes(peak, peak_of(&o->series[i]), o->opts->unit),
            o->opts->no_times ? "" : ", ",
            o->opts->no_times ? "" : ml_format_duration_ns(duration, (int64_t)t->duration_ns),
            o->opts->no_times ? "" : " long");
    }
    o->canvas->description = text;
}

void ml_plot_overlay(struct ml_canvas *canvas, const struct ml_plot_series *series, size_t count,
                     size_t buckets, const struct ml_overlay_words *words,
                     const struct ml_plot_opts *opts)
{
    struct overlay o = {
        .canvas = canvas, .series = series, .count = count, .buckets = buckets, .opts = opts};
    const char *what = ml_plot_on_device(canvas, words->what, opts);
    const char *axis =
        words->minus ? ml_canvas_printf(canvas, "%s minus %s", what, words->minus) : what;
    double y = ml_frame_title(canvas, opts, opts->others ? opts->others : ""), opacity;

    describe(&o, axis);
    find_scales(&o, words->things);
    ml_frame_place(&o.frame, canvas, y);
    y = legend(&o, y + ML_TEXT_PX);
    ml_frame_place(&o.frame, canvas, y - ML_TEXT_PX + 6);
    ml_frame_raise(&o.frame, NAME_PX);
    ml_frame_byte_axis(canvas, &o.frame, axis);
    ml_frame_time_axis(canvas, &o.frame);
    opacity = fill_opacity(&o);
    for (size_t i = 0; i < count && opacity > 0; i++)
        if (!series[i].is_truth)
            draw_fill(&o, i, opacity);
    for (size_t i = 0; i < count; i++)
        draw_line(&o, i);
    draw_names(&o);
}
