/* svg_curves.c: the curves and axes of a plot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "svg_parts.h"

double ml_svg_x(const struct ml_svg *svg, double time_ns)
{
    return svg->left + (svg->right - svg->left) * time_ns / svg->time.end;
}

double ml_svg_y(const struct ml_svg *svg, double bytes)
{
    return svg->bottom - (svg->bottom - svg->top) * bytes / svg->bytes.end;
}

/* ---- Axes -------------------------------------------------------------- */

static void put_byte_marks(struct ml_svg *svg)
{
    const struct ml_scale *s = &svg->bytes;
    char number[32];

    for (int i = 0; i * s->step <= s->end; i++) {
        double y = ml_svg_y(svg, i * s->step);

        ml_svg_put(svg, "<path class=\"%s\" d=\"M%.1f %.1fH%.1f\"/>", i ? "grid" : "axis",
                   svg->left, y, svg->right);
        ml_svg_put(
            svg, "<text class=\"quiet\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
            svg->left - 8, y + ML_SVG_TEXT_PX * 0.35, ml_scale_number(s, i * s->step, number));
    }
}

static void put_time_marks(struct ml_svg *svg)
{
    const struct ml_scale *s = &svg->time;
    char number[32];

    for (int i = 0; i * s->step <= s->end * (1 + 1e-9); i++) {
        double x = ml_svg_x(svg, i * s->step);

        ml_svg_put(svg, "<path class=\"axis\" d=\"M%.1f %.1fv5\"/>", x, svg->bottom);
        ml_svg_put(svg,
                   "<text class=\"quiet\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
                   x, svg->bottom + 8 + ML_SVG_TEXT_PX, ml_scale_number(s, i * s->step, number));
    }
}

void ml_svg_put_axes(struct ml_svg *svg)
{
    put_byte_marks(svg);
    put_time_marks(svg);
    ml_svg_put(svg,
               "<text class=\"quiet\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">"
               "time since the start of the run (%s)</text>\n",
               (svg->left + svg->right) / 2, svg->bottom + 16 + 2 * ML_SVG_TEXT_PX,
               svg->time.unit_name);
    ml_svg_put(svg,
               "<text class=\"quiet\" transform=\"translate(%d %.1f) rotate(-90)\" "
               "text-anchor=\"middle\">%s (%s)</text>\n",
               ML_SVG_TEXT_PX + 5, (svg->top + svg->bottom) / 2, svg->opts->what,
               svg->bytes.unit_name);
}

/* ---- Curves ------------------------------------------------------------ */

/* The bucket in which a curve has its first value. */
static size_t first_bucket(const struct ml_svg *svg, const struct ml_timeline *t)
{
    size_t i = 0;

    while (i + 1 < t->buckets.len &&
           ml_timeline_edge_ns(t->span_ns, svg->buckets, i + 1) <= t->begin_ns)
        i++;
    return i;
}

/* The steps of a curve: along to each bucket, then up and down as it went. */
static void put_steps(struct ml_svg *svg, const struct ml_timeline *t)
{
    uint64_t at_bytes = t->begin_bytes;

    for (size_t i = first_bucket(svg, t); i < t->buckets.len; i++) {
        const struct ml_timeline_bucket *b = &t->buckets.items[i];
        uint64_t values[3] = {b->min_first ? b->min_bytes : b->max_bytes,
                              b->min_first ? b->max_bytes : b->min_bytes, b->last_bytes};
        bool moved = false;

        for (size_t k = 0; k < 3; k++) {
            if (values[k] == at_bytes)
                continue;
            if (!moved)
                ml_svg_put(svg, "H%.1f",
                           ml_svg_x(svg, (double)ml_timeline_edge_ns(t->span_ns, svg->buckets, i)));
            ml_svg_put(svg, "V%.1f", ml_svg_y(svg, (double)values[k]));
            at_bytes = values[k];
            moved = true;
        }
    }
    ml_svg_put(svg, "H%.1f", ml_svg_x(svg, (double)t->duration_ns));
}

static void put_fill(struct ml_svg *svg, size_t i)
{
    const struct ml_timeline *t = svg->series[i].timeline;

    ml_svg_put(svg, "<path class=\"fill f%zu\" d=\"M%.1f %.1fV%.1f", i,
               ml_svg_x(svg, (double)t->begin_ns), svg->bottom,
               ml_svg_y(svg, (double)t->begin_bytes));
    put_steps(svg, t);
    ml_svg_put(svg, "V%.1fZ\"/>\n", svg->bottom);
}

static void put_line(struct ml_svg *svg, size_t i)
{
    const struct ml_timeline *t = svg->series[i].timeline;
    uint64_t last = t->buckets.len ? t->buckets.items[t->buckets.len - 1].last_bytes : 0;

    /* Twice: a dark edge lets pale colours stand out. */
    ml_svg_put(svg, "<defs><path id=\"c%zu\" d=\"M%.1f %.1f", i, ml_svg_x(svg, (double)t->begin_ns),
               ml_svg_y(svg, (double)t->begin_bytes));
    put_steps(svg, t);
    ml_svg_put(svg,
               "\"/></defs><use href=\"#c%zu\" class=\"edge\"/>"
               "<use href=\"#c%zu\" class=\"line l%zu\"/>\n",
               i, i, i);
    ml_svg_put(svg,
               "<circle class=\"ring l%zu\" style=\"stroke-dasharray:none\" "
               "cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n",
               i, ml_svg_x(svg, (double)t->duration_ns), ml_svg_y(svg, (double)last));
}

static void put_truth(struct ml_svg *svg, size_t i)
{
    const struct ml_timeline *t = svg->series[i].timeline;

    ml_svg_put(svg, "<path class=\"line truth l%zu\" d=\"M%.1f %.1f", i,
               ml_svg_x(svg, (double)t->begin_ns), ml_svg_y(svg, (double)t->begin_bytes));
    put_steps(svg, t);
    ml_svg_put(svg, "\"/>\n");
}

void ml_svg_put_curves(struct ml_svg *svg)
{
    for (size_t i = 0; i < svg->count; i++)
        if (!svg->series[i].is_truth)
            put_fill(svg, i);
    for (size_t i = 0; i < svg->count; i++)
        if (svg->series[i].is_truth)
            put_truth(svg, i);
        else
            put_line(svg, i);
}
