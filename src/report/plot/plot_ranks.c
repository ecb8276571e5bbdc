/* plot_ranks.c: see plot_ranks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plot_ranks.h"

#include <inttypes.h>

#include "plot_frame.h"

#define WIDTH_PX 900
#define MAP_PX 480 /* height of the lines, at most */
#define LINE_MOST_PX 22
#define LINES_MOST 256
#define COLUMNS_MOST 128
#define SHADES 24
#define MARK_PX 10
#define LEGEND_PX 40
#define TICKS 8

struct map {
    struct ml_canvas *canvas;
    const struct ml_ranks *ranks;
    size_t lines, columns;
    double left, top, width, line_px;
    uint64_t from_bytes; /* of the lightest shade */
};

static size_t first_of(size_t part, size_t parts, size_t count)
{
    return part * count / parts;
}

/* The highest peak of the ranks of a line in the steps of a column. */
static uint64_t value_of(const struct map *m, size_t line, size_t column)
{
    uint64_t most = 0;

    for (size_t row = first_of(line, m->lines, m->ranks->rows.len);
         row < first_of(line + 1, m->lines, m->ranks->rows.len); row++)
        for (size_t i = first_of(column, m->columns, m->ranks->columns);
             i < first_of(column + 1, m->columns, m->ranks->columns); i++)
            most = ml_max_u64(most, ml_ranks_cell(m->ranks, row, i));
    return most;
}

/* Ranks that are alike differ by little: shades begin at three quarters or half of the highest peak
 * if no cell is lower. */
static uint64_t lightest(const struct map *m)
{
    uint64_t highest = m->ranks->peak_most_bytes, lowest = highest;

    for (size_t line = 0; line < m->lines; line++)
        for (size_t i = 0; i < m->columns; i++) {
            uint64_t bytes = value_of(m, line, i);

            lowest = bytes > 0 ? ml_min_u64(lowest, bytes) : lowest;
        }
    if (lowest >= highest - highest / 4)
        return highest - highest / 4;
    return lowest >= highest / 2 ? highest / 2 : 0;
}

/* 0: no memory. */
static unsigned shade_of(const struct map *m, uint64_t bytes)
{
    uint64_t highest = m->ranks->peak_most_bytes;

    if (bytes == 0 || highest == 0)
        return 0;
    return 1 + (unsigned)((double)(bytes - m->from_bytes) / (double)(highest - m->from_bytes) *
                          (SHADES - 1));
}

static struct ml_pen pen_of(unsigned shade)
{
    return (struct ml_pen){.fill = ML_INK_RED, .opacity = (double)shade / (SHADES + 1)};
}

/* Neighbours of one shade are one box. */
static void draw_line(const struct map *m, size_t line)
{
    double y = m->top + (double)line * m->line_px, each = m->width / (double)m->columns;
    size_t from = 0;

    while (from < m->columns) {
        unsigned shade = shade_of(m, value_of(m, line, from));
        size_t to = from + 1;
        struct ml_pen pen = pen_of(shade);

        while (to < m->columns && shade_of(m, value_of(m, line, to)) == shade)
            to++;
        if (shade > 0)
            ml_draw_box(m->canvas, &pen, m->left + (double)from * each, y,
                        (double)(to - from) * each, m->line_px - (m->line_px > 4 ? 1 : 0));
        from = to;
    }
}

static bool is_found(const struct ml_ranks *ranks, uint32_t rank)
{
    for (size_t i = 0; i < ranks->findings.len; i++)
        for (size_t n = 0; n < ranks->findings.items[i].ranks.len; n++)
            if (ranks->findings.items[i].ranks.items[n] == rank)
                return true;
    return false;
}

/* Every so many lines a number, and a triangle beside ranks with a finding. */
static void draw_names(const struct map *m, size_t line)
{
    const struct ml_lettering letters = {.ink = ML_INK_QUIET, .size = 11, .anchor = ML_ANCHOR_END};
    const struct ml_pen mark = {.fill = ML_INK_RED};
    size_t row = first_of(line, m->lines, m->ranks->rows.len),
           each = m->lines > TICKS * 2 ? m->lines / TICKS : 1;
    double y = m->top + ((double)line + 0.5) * m->line_px, x = m->left + m->width + 4;
    bool found = false;

    if (line % each == 0)
        ml_draw_text(m->canvas, &letters, m->left - 6, y + 4,
                     ml_canvas_printf(m->canvas, "rank %" PRIu32, m->ranks->rows.items[row].rank));
    for (; row < first_of(line + 1, m->lines, m->ranks->rows.len); row++)
        found |= is_found(m->ranks, m->ranks->rows.items[row].rank);
    if (!found)
        return;
    ml_draw_begin(m->canvas, &mark);
    ml_draw_move(m->canvas, x, y);
    ml_draw_to(m->canvas, x + MARK_PX, y - MARK_PX / 2.0);
    ml_draw_to(m->canvas, x + MARK_PX, y + MARK_PX / 2.0);
    ml_draw_close(m->canvas);
}

static void draw_steps(const struct map *m)
{
    const struct ml_lettering letters = {
        .ink = ML_INK_QUIET, .size = 11, .anchor = ML_ANCHOR_MIDDLE};
    uint64_t steps = m->ranks->steps;
    uint64_t each = steps > TICKS ? (steps + TICKS - 1) / TICKS : 1;
    double y = m->top + (double)m->lines * m->line_px + 15;

    for (uint64_t i = 0; i < steps; i += each)
        ml_draw_text(m->canvas, &letters, m->left + ((double)i + 0.5) / (double)steps * m->width, y,
                     ml_canvas_printf(m->canvas, "%" PRIu64, i));
    ml_draw_text(m->canvas, &letters, m->left + m->width / 2, y + 16, "step");
}

static void draw_legend(const struct map *m, enum ml_unit unit)
{
    const struct ml_lettering letters = {.ink = ML_INK_QUIET, .size = 11};
    const struct ml_lettering before = {.ink = ML_INK_QUIET, .size = 11, .anchor = ML_ANCHOR_END};
    double y = m->top + (double)m->lines * m->line_px + LEGEND_PX, x = m->left;
    char bytes[32];

    ml_draw_text(m->canvas, &before, x + 10, y + 9,
                 m->from_bytes == 0
                     ? "0"
                     : ml_canvas_printf(m->canvas, "%s",
                                        ml_format_bytes(bytes, (int64_t)m->from_bytes, unit)));
    for (unsigned i = 1; i <= SHADES; i++) {
        struct ml_pen pen = pen_of(i);

        ml_draw_box(m->canvas, &pen, x + 10 + 6 * i, y, 6, 10);
    }
    ml_draw_text(
        m->canvas, &letters, x + 10 + 6 * (SHADES + 2), y + 9,
        ml_canvas_printf(m->canvas, "%s, the highest peak; a triangle marks a finding",
                         ml_format_bytes(bytes, (int64_t)m->ranks->peak_most_bytes, unit)));
}

void ml_plot_ranks(struct ml_canvas *canvas, const struct ml_ranks *ranks, enum ml_unit unit)
{
    struct map m = {.canvas = canvas, .ranks = ranks};
    struct ml_plot_opts opts = {.title = "Peak memory by rank and step", .width = WIDTH_PX};

    m.lines = ml_min_u64(ranks->rows.len, LINES_MOST);
    m.columns = ml_min_u64(ranks->columns, COLUMNS_MOST);
    m.line_px = MAP_PX / (double)m.lines;
    m.line_px = m.line_px < LINE_MOST_PX ? m.line_px : LINE_MOST_PX;
    opts.height = (unsigned)(72 + (double)m.lines * m.line_px + LEGEND_PX + 24);
    m.top =
        ml_frame_title(canvas, &opts,
                       ml_canvas_printf(canvas, "%zu ranks, %" PRIu64 " steps%s%s", ranks->rows.len,
                                        ranks->steps, ranks->job ? ", job " : "",
                                        ranks->job ? ranks->job : "")) +
        8;
    m.left = ML_PLOT_AXIS_LEFT_PX;
    m.width = WIDTH_PX - m.left - ML_PLOT_MARGIN_PX - MARK_PX - 8;
    m.from_bytes = lightest(&m);
    for (size_t i = 0; i < m.lines; i++) {
        if (m.columns > 0)
            draw_line(&m, i);
        draw_names(&m, i);
    }
    draw_steps(&m);
    draw_legend(&m, unit);
}
