/* plot_flame.c: see plots.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plots.h"

#include "category_columns.h"
#include "flame_boxes.h"

struct flame {
    struct ml_flame_boxes boxes;
    struct ml_canvas *canvas;
    const struct ml_module_tree *tree;
    const struct ml_plot_opts *opts;
};

static double width_of(const struct flame *f, uint64_t bytes)
{
    return ml_flame_width(&f->boxes, bytes);
}

/* ---- One module -------------------------------------------------------- */

static const char *name_of(const struct flame *f, const struct ml_tree_row *row)
{
    if (row->no_module)
        return f->tree->from_scopes ? "no scope" : "no module";
    if (row->folded)
        return ml_canvas_printf(f->canvas, "%zu small ones", row->folded);
    return row->name;
}

static const char *hover_of(const struct flame *f, const struct ml_tree_row *row)
{
    char bytes[32];

    ml_format_bytes(bytes, (int64_t)row->all.bytes, f->opts->unit);
    return ml_canvas_printf(f->canvas, "%s%s%s%s: %s, %.1f %%",
                            *row->title ? row->title : name_of(f, row),
                            *row->class_name ? " (" : "", row->class_name,
                            *row->class_name ? ")" : "", bytes, row->percent);
}

/* A module's own memory is drawn after the modules below it. */
static void draw_categories(const struct flame *f, const struct ml_tree_row *row, double x)
{
    char bytes[32];

    for (size_t i = 0; i < ML_CATEGORIES; i++) {
        size_t category = ml_category_order[i];
        uint64_t own = row->own.by_category[category];
        double width = width_of(f, own);
        const char *words;

        if (own == 0)
            continue;
        words = ml_category_words(f->canvas, category);
        ml_format_bytes(bytes, (int64_t)own, f->opts->unit);
        ml_flame_box(&f->boxes, row->depth + 1, x, width, ml_part_pen(category), words,
                     ml_canvas_printf(f->canvas, "%s of %s: %s, %.1f %%", words,
                                      *row->title ? row->title : name_of(f, row), bytes,
                                      ml_snapshot_percent(&f->tree->at, own)));
        x += width;
    }
}

static void draw_row(const struct flame *f, const struct ml_tree_row *row, double x)
{
    const struct ml_pen pen = {.fill =
                                   (enum ml_ink)(ML_INK_GREY + ML_GREYS_MAX - 1 - row->depth % 2)};

    ml_flame_box(&f->boxes, row->depth, x, width_of(f, row->all.bytes), pen, name_of(f, row),
                 hover_of(f, row));
    draw_categories(f, row, x + width_of(f, row->all.bytes - row->own.bytes));
}

/* ---- The picture ------------------------------------------------------- */

/* Each row precedes those below it: the next one of a depth begins where the last
 * one of that depth ended, or where its parent begins. */
static void draw_rows(const struct flame *f)
{
    ML_VEC(double) next = {0};

    for (size_t i = 0; i <= f->boxes.levels + 1; i++)
        if (ml_vec_push(&next, f->boxes.left) < 0)
            f->canvas->error = -ENOMEM;
    for (size_t i = 0; i < f->tree->rows.len && f->canvas->error == 0; i++) {
        const struct ml_tree_row *row = &f->tree->rows.items[i];
        double x = next.items[row->depth];

        draw_row(f, row, x);
        next.items[row->depth] = x + width_of(f, row->all.bytes);
        next.items[row->depth + 1] = x;
    }
    ml_vec_release(&next);
}

static double legend(const struct flame *f, double y)
{
    struct ml_legend_entry entries[ML_CATEGORIES];
    size_t count = 0;
    char bytes[32];

    for (size_t i = 0; i < ML_CATEGORIES; i++) {
        size_t category = ml_category_order[i];
        uint64_t sum = f->tree->all.by_category[category];

        if (sum == 0)
            continue;
        ml_format_bytes(bytes, (int64_t)sum, f->opts->unit);
        entries[count++] = (struct ml_legend_entry){
            .name = ml_category_words(f->canvas, category),
            .value = ml_canvas_printf(f->canvas, "%s, %.1f %%", bytes,
                                      ml_snapshot_percent(&f->tree->at, sum)),
            .pen = ml_part_pen(category),
        };
    }
    return ml_legend(f->canvas, entries, count, f->boxes.left, f->boxes.right, y, true);
}

/* With the whole and the categories. */
static size_t levels_of(const struct ml_module_tree *tree)
{
    size_t levels = 2;

    for (size_t i = 0; i < tree->rows.len; i++)
        if (tree->rows.items[i].depth + 2 > levels)
            levels = tree->rows.items[i].depth + 2;
    return levels;
}

void ml_plot_flame(struct ml_canvas *canvas, const struct ml_module_tree *tree, bool icicle,
                   const struct ml_plot_opts *opts)
{
    struct flame f = {.boxes = {.canvas = canvas,
                                .opts = opts,
                                .icicle = icicle,
                                .total = tree->all.bytes,
                                .left = ML_PLOT_MARGIN_PX,
                                .right = (double)opts->width - ML_PLOT_MARGIN_PX},
                      .canvas = canvas,
                      .tree = tree,
                      .opts = opts};
    const char *instant = ml_frame_instant(canvas, &tree->at, opts->unit);
    const struct ml_pen whole = {.fill = ML_INK_GREY + 5};
    double y = ml_frame_title(canvas, opts, instant);
    char bytes[32];

    canvas->description = ml_canvas_printf(canvas, "Modules by category: %s.", instant);
    y = legend(&f, y + ML_TEXT_PX);
    ml_flame_place(&f.boxes, levels_of(tree), y - ML_TEXT_PX + 4);
    ml_format_bytes(bytes, (int64_t)tree->all.bytes, opts->unit);
    ml_flame_box(&f.boxes, 0, f.boxes.left, f.boxes.right - f.boxes.left, whole,
                 ml_canvas_printf(canvas, "all: %s", bytes), instant);
    draw_rows(&f);
}
