/* plot_calls.c: see plots.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "costs_report.h"
#include "flame_boxes.h"
#include "plots.h"
#include "stack_report.h"
#include "text.h"

#define LIBRARIES_MAX (ML_PARTS_MAX - 1) /* with a colour of their own; the first is for others */

struct calls {
    struct ml_flame_boxes boxes;
    const struct ml_call_tree *tree;
    const char *libraries[LIBRARIES_MAX]; /* in the order of the rows */
    size_t library_count;
};

/* ---- Libraries ---------------------------------------------------------- */

static const char *library_of(const struct ml_call_row *row)
{
    if (row->folded || row->no_stack)
        return NULL;
    return row->library ? row->library : row->file ? "Python" : NULL;
}

static enum ml_ink ink_of(const struct calls *c, const struct ml_call_row *row)
{
    const char *library = library_of(row);

    for (size_t i = 0; library && i < c->library_count; i++)
        if (!strcmp(c->libraries[i], library))
            return (enum ml_ink)(ML_INK_PART + 1 + i);
    return ML_INK_PART;
}

static void choose_colours(struct calls *c)
{
    for (size_t i = 0; i < c->tree->rows.len && c->library_count < LIBRARIES_MAX; i++) {
        const struct ml_call_row *row = &c->tree->rows.items[i];

        if (library_of(row) && ink_of(c, row) == ML_INK_PART)
            c->libraries[c->library_count++] = library_of(row);
    }
}

static double legend(const struct calls *c, double y)
{
    struct ml_legend_entry entries[LIBRARIES_MAX];

    for (size_t i = 0; i < c->library_count; i++)
        entries[i] = (struct ml_legend_entry){
            .name = ml_base_name(c->libraries[i]),
            .value = "",
            .pen = {.fill = (enum ml_ink)(ML_INK_PART + 1 + i)},
        };
    return ml_legend(c->boxes.canvas, entries, c->library_count, c->boxes.left, c->boxes.right, y,
                     true);
}

/* ---- Boxes -------------------------------------------------------------- */

static const char *figure_text(const struct calls *c, uint64_t figure)
{
    char text[32];

    if (ml_cost_is_bytes(c->tree->costs.of))
        ml_format_bytes(text, (int64_t)figure, c->boxes.opts->unit);
    else
        ml_format_count(text, (int64_t)figure);
    return ml_canvas_printf(c->boxes.canvas, "%s", text);
}

static const char *name_of(const struct calls *c, const struct ml_call_row *row)
{
    struct ml_buf name = {0};
    const char *copy = row->function;

    if (row->no_stack)
        return "no stack";
    if (row->folded)
        return ml_canvas_printf(c->boxes.canvas, "%zu small ones", row->folded);
    if (ml_demangle(row->function, &name) == 0)
        copy = ml_canvas_printf(c->boxes.canvas, "%s", (const char *)name.data);
    ml_buf_release(&name);
    return copy;
}

/* "leaf(int) (t.cc:9): 11.7 KiB, 3.3 %" */
static const char *hover_of(const struct calls *c, const struct ml_call_row *row, const char *name)
{
    struct ml_canvas *canvas = c->boxes.canvas;
    const char *path = row->file ? row->file : row->library;
    const char *line = row->file && row->line ? ml_canvas_printf(canvas, ":%u", row->line) : "";

    return ml_canvas_printf(canvas, "%s%s%s%s%s: %s, %.1f %%", name, path ? " (" : "",
                            path ? path : "", line, path ? ")" : "", figure_text(c, row->figure),
                            row->percent);
}

/* Each row precedes those below it: the next one of a depth begins where the last one of that
 * depth ended, or where its parent begins. */
static void draw_rows(const struct calls *c)
{
    ML_VEC(double) next = {0};

    for (size_t i = 0; i <= c->boxes.levels + 1; i++)
        if (ml_vec_push(&next, c->boxes.left) < 0)
            c->boxes.canvas->error = -ENOMEM;
    for (size_t i = 0; i < c->tree->rows.len && c->boxes.canvas->error == 0; i++) {
        const struct ml_call_row *row = &c->tree->rows.items[i];
        double x = next.items[row->depth], width = ml_flame_width(&c->boxes, row->figure);
        const char *name = name_of(c, row);

        ml_flame_box(&c->boxes, row->depth, x, width, (struct ml_pen){.fill = ink_of(c, row)}, name,
                     hover_of(c, row, name));
        next.items[row->depth] = x + width;
        next.items[row->depth + 1] = x;
    }
    ml_vec_release(&next);
}

/* ---- The picture -------------------------------------------------------- */

static size_t levels_of(const struct ml_call_tree *tree)
{
    size_t levels = 1;

    for (size_t i = 0; i < tree->rows.len; i++)
        if (tree->rows.items[i].depth + 1 > levels)
            levels = tree->rows.items[i].depth + 1;
    return levels;
}

void ml_plot_calls(struct ml_canvas *canvas, const struct ml_call_tree *tree, bool icicle,
                   const struct ml_plot_opts *opts)
{
    const struct ml_cost_report *costs = &tree->costs;
    struct calls c = {.boxes = {.canvas = canvas,
                                .opts = opts,
                                .icicle = icicle,
                                .total = costs->total.figures[costs->of],
                                .left = ML_PLOT_MARGIN_PX,
                                .right = (double)opts->width - ML_PLOT_MARGIN_PX},
                      .tree = tree};
    const char *whole = figure_text(&c, c.boxes.total), *what;
    double y;

    what = costs->of == ML_COST_LIVE
               ? ml_frame_instant(canvas, &costs->at, opts->unit)
               : ml_canvas_printf(canvas, "%s: %s", ml_cost_phrase(costs->of), whole);
    choose_colours(&c);
    canvas->description = ml_canvas_printf(canvas, "Functions by %s, %s.",
                                           tree->callers ? "callers" : "callees", what);
    y = legend(&c, ml_frame_title(canvas, opts, what) + ML_TEXT_PX);
    ml_flame_place(&c.boxes, levels_of(tree), y - ML_TEXT_PX + 4);
    ml_flame_box(&c.boxes, 0, c.boxes.left, c.boxes.right - c.boxes.left,
                 (struct ml_pen){.fill = ML_INK_GREY + 5},
                 ml_canvas_printf(canvas, "all: %s", whole), what);
    draw_rows(&c);
}
