/* svg_names.c: which curve is which: the legend, and names at the peaks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "svg_parts.h"

#define LINE_PX (ML_SVG_TEXT_PX + 8)
#define SWATCH_PX 34
#define GAP_PX 26

/* ---- Legend ------------------------------------------------------------ */

static void peak_text(const struct ml_svg *svg, size_t i, char text[32])
{
    ml_format_bytes(text, (int64_t)svg->series[i].timeline->peak_bytes, svg->opts->unit);
}

/* What stands behind the name. */
static void entry_text(const struct ml_svg *svg, size_t i, char text[64])
{
    char peak[32];

    peak_text(svg, i, peak);
    snprintf(text, 64, svg->series[i].is_truth ? "in use, peak %s" : "peak %s", peak);
}

static double entry_width(const struct ml_svg *svg, size_t i)
{
    char text[64];

    entry_text(svg, i, text);
    return SWATCH_PX + 12 + ml_svg_text_width(svg->series[i].name, ML_SVG_TEXT_PX) +
           ml_svg_text_width(text, ML_SVG_TEXT_PX);
}

/* Goes through the entries, line by line; draws them unless `svg` is NULL.
 * Returns the number of lines. */
static unsigned lay_legend(const struct ml_svg *layout, struct ml_svg *svg, double y)
{
    double x = layout->left;
    unsigned lines = 1;

    for (size_t i = 0; i < layout->count; i++) {
        double width = entry_width(layout, i);
        char text[64];

        if (x > layout->left && x + width > layout->right) {
            x = layout->left;
            lines++;
        }
        if (svg) {
            double at = y + (lines - 1) * LINE_PX;

            entry_text(svg, i, text);
            ml_svg_put(svg,
                       "<path class=\"line l%zu\" style=\"stroke-width:%s\" d=\"M%.1f %.1fh%d\"/>"
                       "<text x=\"%.1f\" y=\"%.1f\"><tspan class=\"name\">",
                       i, svg->series[i].is_truth ? "1.1" : "2.6", x, at - ML_SVG_TEXT_PX * 0.35,
                       SWATCH_PX, x + SWATCH_PX + 6, at);
            ml_svg_put_text(svg, svg->series[i].name);
            ml_svg_put(svg, "</tspan><tspan class=\"quiet\" dx=\"6\">%s</tspan></text>\n", text);
        }
        x += width + GAP_PX;
    }
    return lines;
}

double ml_svg_legend_height(const struct ml_svg *svg)
{
    return lay_legend(svg, NULL, 0) * (double)LINE_PX;
}

double ml_svg_put_legend(struct ml_svg *svg, double y)
{
    return y + lay_legend(svg, svg, y) * (double)LINE_PX;
}

/* ---- Names at the peaks ------------------------------------------------ */

struct box {
    double x, y, width; /* of the text: left end, base line */
};

static bool overlap(const struct box *a, const struct box *b)
{
    return a->x < b->x + b->width + 4 && b->x < a->x + a->width + 4 && a->y < b->y + LINE_PX - 4 &&
           b->y < a->y + LINE_PX - 4;
}

/* Its name; a curve that is alone tells its peak instead. */
static const char *point_text(const struct ml_svg *svg, size_t i, char text[32])
{
    if (svg->count > 1 && !svg->series[1].is_truth)
        return svg->series[i].name;
    peak_text(svg, i, text);
    return text;
}

static struct box place_name(const struct ml_svg *svg, size_t i, const struct box *placed,
                             size_t count)
{
    const struct ml_timeline *t = svg->series[i].timeline;
    char text[32];
    struct box box = {.width = ml_svg_text_width(point_text(svg, i, text), ML_SVG_TEXT_PX)};
    bool again = true;

    box.x = ml_svg_x(svg, (double)t->peak_time_ns) - box.width / 2;
    box.x = box.x < svg->left + 4 ? svg->left + 4 : box.x;
    box.x = box.x + box.width > svg->right ? svg->right - box.width : box.x;
    box.y = ml_svg_y(svg, (double)t->peak_bytes) - 9;
    while (again) {
        again = false;
        for (size_t k = 0; k < count; k++)
            if (overlap(&box, &placed[k])) {
                box.y = placed[k].y - LINE_PX + 4;
                again = box.y > ML_SVG_TEXT_PX;
            }
    }
    return box;
}

static void put_name(struct ml_svg *svg, size_t i, const struct box *box)
{
    const struct ml_timeline *t = svg->series[i].timeline;
    double x = ml_svg_x(svg, (double)t->peak_time_ns), y = ml_svg_y(svg, (double)t->peak_bytes);
    char text[32];

    if (y - box->y > 2 * LINE_PX)
        ml_svg_put(svg, "<path class=\"axis\" d=\"M%.1f %.1fV%.1f\"/>", x, y - 4, box->y + 4);
    ml_svg_put(svg,
               "<circle class=\"ring l%zu\" style=\"stroke-dasharray:none\" "
               "cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n",
               i, x, y);
    for (int halo = 1; halo >= 0; halo--) {
        ml_svg_put(svg, "<text class=\"name%s\" x=\"%.1f\" y=\"%.1f\">", halo ? " halo" : "",
                   box->x, box->y);
        ml_svg_put_text(svg, point_text(svg, i, text));
        ml_svg_put(svg, "</text>\n");
    }
}

void ml_svg_put_names(struct ml_svg *svg)
{
    ML_VEC(struct box) boxes = {0};

    for (size_t i = 0; i < svg->count && svg->error == 0; i++) {
        struct box box;

        if (svg->series[i].is_truth)
            continue;
        box = place_name(svg, i, boxes.items, boxes.len);
        put_name(svg, i, &box);
        if (ml_vec_push(&boxes, box) < 0)
            svg->error = -ENOMEM;
    }
    ml_vec_release(&boxes);
}
