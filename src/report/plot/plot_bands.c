/* plot_bands.c: see plot_bands.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plot_bands.h"

#include "category_columns.h"
#include "occasions.h"

#define NAME_PX 24      /* above the highest area */
#define LABEL_ROOM_PX 4 /* around a name in its area */

struct stack {
    struct ml_canvas *canvas;
    const struct ml_bands *bands;
    const struct ml_plot_series *truth;
    size_t truth_count, buckets;
    const struct ml_plot_opts *opts;
    struct ml_plot_area frame;
    size_t order[ML_BANDS_MAX], count; /* non-empty bands, from the bottom */
};

size_t ml_plot_band_buckets(const struct ml_plot_opts *opts)
{
    return (ml_plot_buckets(opts) + 1) / 2;
}

/* ---- Order and names --------------------------------------------------- */

/* Blocks without a module come last, as the category "other" does. */
static void find_order(struct stack *s)
{
    for (size_t i = 0; i < s->bands->count; i++) {
        size_t band = i;

        if (s->bands->by == ML_BANDS_CATEGORY)
            band = ml_category_order[i];
        else if (s->bands->by == ML_BANDS_MODULE)
            band = (i + 1) % s->bands->count;

        if (s->bands->list[band].peak_bytes > 0)
            s->order[s->count++] = band;
    }
}

static const char *name_of(const struct stack *s, size_t band)
{
    const struct ml_band *b = &s->bands->list[band];

    if (s->bands->by == ML_BANDS_CATEGORY)
        return ml_category_words(s->canvas, band);
    if (s->bands->by == ML_BANDS_DEVICE)
        return b->rest ? "other devices" : b->name;
    if (s->bands->by == ML_BANDS_PROCESS)
        return b->rest ? "other processes" : b->name;
    if (s->bands->by == ML_BANDS_RANK)
        return b->rest ? "other ranks" : b->name;
    if (b->rest)
        return s->bands->from_scopes ? "other scopes" : "other modules";
    if (*b->name)
        return b->name;
    return s->bands->from_scopes ? "no scope" : "no module";
}

/* ---- Areas ------------------------------------------------------------- */

/* The top of the band at a moment: it and all below it. */
static uint64_t top_of(const struct stack *s, size_t moment, size_t level)
{
    uint64_t sum = 0;

    for (size_t i = 0; i <= level; i++)
        sum += s->bands->moments.items[moment].bytes[s->order[i]];
    return sum;
}

static double x_of(const struct stack *s, size_t moment)
{
    const struct ml_timeline *t = &s->bands->total;
    double x = ml_frame_x(&s->frame, ml_timeline_half_ns(t, s->buckets, moment));
    double end = ml_frame_x(&s->frame, (double)t->duration_ns);

    return x < end ? x : end;
}

/* Down to the axis: the areas below are drawn over it. */
static void draw_area(const struct stack *s, size_t level)
{
    struct ml_pen pen = ml_part_pen(s->order[level]);
    double y = s->frame.bottom, end = ml_frame_x(&s->frame, (double)s->bands->total.duration_ns);

    pen.stroke = pen.fill; /* makes a peak without width visible */
    pen.width = 1;
    ml_draw_begin(s->canvas, &pen);
    ml_draw_move(s->canvas, s->frame.left, y);
    for (size_t i = 0; i < s->bands->moments.len; i++) {
        double x = x_of(s, i), top = ml_frame_y(&s->frame, (double)top_of(s, i, level));

        if (top == y)
            continue;
        ml_draw_to(s->canvas, x, y);
        ml_draw_to(s->canvas, x, top);
        y = top;
    }
    ml_draw_to(s->canvas, end, y);
    ml_draw_to(s->canvas, end, s->frame.bottom);
    ml_draw_close(s->canvas);
}

/* ---- Names in the areas ------------------------------------------------ */

/* The free height in pixels for text that begins at a moment: between the highest lower
 * edge and the lowest upper edge; *ret_y is its middle. */
static double room_at(const struct stack *s, size_t level, size_t moment, double width,
                      double *ret_y)
{
    double begin = x_of(s, moment), top = s->frame.top, bottom = s->frame.bottom;
    size_t i = moment;

    for (; i < s->bands->moments.len && x_of(s, i) < begin + width; i++) {
        double upper = ml_frame_y(&s->frame, (double)top_of(s, i, level));
        double lower =
            level ? ml_frame_y(&s->frame, (double)top_of(s, i, level - 1)) : s->frame.bottom;

        top = upper > top ? upper : top;
        bottom = lower < bottom ? lower : bottom;
        if (bottom - top < ML_TEXT_PX)
            return 0;
    }
    if (begin + width > ml_frame_x(&s->frame, (double)s->bands->total.duration_ns))
        return 0;
    *ret_y = (top + bottom) / 2;
    return bottom - top;
}

static void draw_label(const struct stack *s, size_t level)
{
    const struct ml_lettering lettering = {.size = ML_TEXT_PX - 1};
    const char *name = name_of(s, s->order[level]);
    double width = ml_text_width(name, ML_TEXT_PX - 1, false) + 2 * LABEL_ROOM_PX;
    double best = 0, best_x = 0, best_y = 0;

    for (size_t i = 0; i < s->bands->moments.len; i += 4) {
        double y = 0, room = room_at(s, level, i, width, &y);

        if (room > best * 1.02) {
            best = room;
            best_x = x_of(s, i);
            best_y = y;
        }
    }
    if (best >= ML_TEXT_PX + 2)
        ml_draw_text(s->canvas, &lettering, best_x + LABEL_ROOM_PX, best_y + ML_TEXT_PX * 0.33,
                     name);
}

/* ---- Legend, lines ----------------------------------------------------- */

static const struct ml_pen truth_pen = {.stroke = ML_INK_TEXT, .width = 1.4};

/* The instant of the values, before them. @return where the first entry begins */
static double draw_instant(const struct stack *s, double y)
{
    static const char words[] = "at the peak:";
    const struct ml_lettering quiet = {.ink = ML_INK_QUIET};

    if (s->count == 0)
        return ML_PLOT_MARGIN_PX;
    ml_draw_text(s->canvas, &quiet, ML_PLOT_MARGIN_PX, y, words);
    return ML_PLOT_MARGIN_PX + ml_text_width(words, ML_TEXT_PX, false) + 10;
}

static double legend(const struct stack *s, double y)
{
    struct ml_legend_entry entries[ML_BANDS_MAX + 16];
    double left = draw_instant(s, y);
    size_t count = 0;
    char bytes[32];

    for (size_t i = 0; i < s->count; i++) {
        const struct ml_band *b = &s->bands->list[s->order[i]];

        /* At the highest total, so that the values add up. */
        ml_format_bytes(bytes, (int64_t)b->share_bytes, s->opts->unit);
        entries[count++] = (struct ml_legend_entry){
            .name = name_of(s, s->order[i]),
            .value = ml_canvas_printf(s->canvas, "%s", bytes),
            .pen = ml_part_pen(s->order[i]),
        };
    }
    for (size_t i = 0; i < s->truth_count && i < 16; i++) {
        ml_format_bytes(bytes, (int64_t)s->truth[i].timeline->peak_bytes, s->opts->unit);
        entries[count++] = (struct ml_legend_entry){
            .name = s->truth[i].name,
            .value = ml_canvas_printf(s->canvas, "in use, peak %s", bytes),
            .pen = truth_pen,
            .line = true,
        };
        entries[count - 1].pen.dash = (unsigned)(i % ML_DASHES);
    }
    return ml_legend(s->canvas, entries, count, left, s->frame.right, y, true);
}

static void draw_truth(const struct stack *s)
{
    for (size_t i = 0; i < s->truth_count; i++) {
        struct ml_pen pen = truth_pen;

        pen.dash = (unsigned)(i % ML_DASHES);
        ml_plot_curve(s->canvas, &s->frame, s->truth[i].timeline, s->buckets, &pen);
    }
}

static void draw_peak(const struct stack *s)
{
    const struct ml_timeline *t = &s->bands->total;
    const struct ml_pen ring = {.fill = ML_INK_PAPER, .stroke = ML_INK_TEXT, .width = 1.6};
    const struct ml_lettering bold = {.bold = true, .halo = true};
    double x = ml_frame_x(&s->frame, (double)t->peak_time_ns);
    double y = ml_frame_y(&s->frame, (double)t->peak_bytes), width;
    char bytes[32];

    if (t->peak_bytes == 0)
        return;
    ml_format_bytes(bytes, (int64_t)t->peak_bytes, s->opts->unit);
    width = ml_text_width(bytes, ML_TEXT_PX, true);
    ml_draw_circle(s->canvas, &ring, x, y, 3.5);
    x -= width / 2;
    x = x + width > s->frame.right ? s->frame.right - width : x;
    x = x < s->frame.left + 4 ? s->frame.left + 4 : x;
    ml_draw_text(s->canvas, &bold, x, y - 9, bytes);
}

/* ---- Pauses ------------------------------------------------------------ */

static void draw_pause(const struct stack *s, const struct ml_pause *pause)
{
    const struct ml_pen veil = {
        .fill = ML_INK_PAPER, .opacity = 0.6, .hover = "the recording was paused"};
    const struct ml_pen edge = {.stroke = ML_INK_QUIET, .width = 1, .dash = 1};
    const struct ml_lettering quiet = {
        .ink = ML_INK_QUIET, .anchor = ML_ANCHOR_MIDDLE, .halo = true};
    double left = ml_frame_x(&s->frame, (double)pause->from_ns);
    double right = ml_frame_x(&s->frame, (double)pause->to_ns);

    ml_draw_box(s->canvas, &veil, left, s->frame.top, right - left, s->frame.bottom - s->frame.top);
    ml_draw_line(s->canvas, &edge, left, s->frame.top, left, s->frame.bottom);
    ml_draw_line(s->canvas, &edge, right, s->frame.top, right, s->frame.bottom);
    if (right - left > ml_text_width("paused", ML_TEXT_PX, false))
        ml_draw_text(s->canvas, &quiet, (left + right) / 2, s->frame.top + ML_TEXT_PX, "paused");
}

/* Nothing is known of the memory there: the bands below only go on. */
static void draw_pauses(const struct stack *s)
{
    const struct ml_occasions *o = s->opts->occasions;

    for (size_t i = 0; o && i < o->pauses.len; i++)
        draw_pause(s, &o->pauses.items[i]);
}

/* ---- The picture ------------------------------------------------------- */

static void find_scales(struct stack *s)
{
    uint64_t peak = s->bands->total.peak_bytes;

    for (size_t i = 0; i < s->truth_count; i++)
        peak = ml_max_u64(peak, s->truth[i].timeline->peak_bytes);
    s->frame.bytes = ml_scale_bytes(peak, 8, s->opts->unit);
    ml_frame_time(&s->frame, s->canvas, s->opts, s->bands->total.from_ns, s->bands->total.span_ns,
                  "events");
}

static void describe(const struct stack *s)
{
    const struct ml_timeline *t = &s->bands->total;
    char bytes[32], time[32];
    const char *text = ml_canvas_printf(
        s->canvas, "%s over time, peak %s%s%s.",
        ml_plot_on_device(s->canvas, "Live memory", s->opts),
        ml_format_bytes(bytes, (int64_t)t->peak_bytes, s->opts->unit),
        s->opts->no_times ? "" : " at ",
        s->opts->no_times ? "" : ml_format_duration_ns(time, (int64_t)t->peak_time_ns));

    for (size_t i = 0; i < s->count; i++)
        text = ml_canvas_printf(s->canvas, "%s %s: %s then.", text, name_of(s, s->order[i]),
                                ml_format_bytes(bytes,
                                                (int64_t)s->bands->list[s->order[i]].share_bytes,
                                                s->opts->unit));
    s->canvas->description = text;
}

void ml_plot_bands(struct ml_canvas *canvas, const struct ml_bands *bands,
                   const struct ml_plot_series *truth, size_t truth_count, size_t buckets,
                   const struct ml_plot_opts *opts)
{
    struct stack s = {.canvas = canvas,
                      .bands = bands,
                      .truth = truth,
                      .truth_count = truth_count,
                      .buckets = buckets,
                      .opts = opts};
    double y = ml_frame_title(canvas, opts, opts->others ? opts->others : "");

    find_order(&s);
    describe(&s);
    find_scales(&s);
    ml_frame_place(&s.frame, canvas, y);
    y = legend(&s, y + ML_TEXT_PX);
    ml_frame_place(&s.frame, canvas, y - ML_TEXT_PX + 6);
    ml_frame_raise(&s.frame, NAME_PX);
    ml_frame_byte_axis(canvas, &s.frame, ml_plot_on_device(canvas, "live memory", opts));
    for (size_t i = s.count; i-- > 0;)
        draw_area(&s, i);
    draw_pauses(&s);
    ml_frame_time_axis(canvas, &s.frame);
    for (size_t i = 0; i < s.count; i++)
        draw_label(&s, i);
    draw_truth(&s);
    draw_peak(&s);
}
