/* svg_plot.c: see svg_plot.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "svg_plot.h"

#include <ctype.h>

#include "svg_parts.h"

#define MARGIN_PX 16
#define TITLE_PX 34
#define AXIS_LEFT_PX 78
#define AXIS_BELOW_PX 52
#define NAME_PX 24

size_t ml_svg_plot_buckets(const struct ml_plot_opts *opts)
{
    return opts->width > AXIS_LEFT_PX + 2 * MARGIN_PX
               ? 2 * (size_t)(opts->width - AXIS_LEFT_PX - 2 * MARGIN_PX)
               : 1;
}

static void find_scales(struct ml_svg *svg)
{
    uint64_t peak = 0, span_ns = 0;

    for (size_t i = 0; i < svg->count; i++) {
        peak = ml_max_u64(peak, svg->series[i].timeline->peak_bytes);
        span_ns = ml_max_u64(span_ns, svg->series[i].timeline->span_ns);
    }
    svg->bytes = ml_scale_bytes(peak, 8, svg->opts->unit);
    svg->time = ml_scale_time(span_ns, 8);
}

static void lay_out(struct ml_svg *svg)
{
    svg->left = AXIS_LEFT_PX;
    svg->right = (double)svg->opts->width - MARGIN_PX - 8;
    svg->bottom = (double)svg->opts->height - AXIS_BELOW_PX;
    svg->top = MARGIN_PX + TITLE_PX + ml_svg_legend_height(svg);
    if (svg->right < svg->left + 10)
        svg->right = svg->left + 10;
    if (svg->bottom < svg->top + 10)
        svg->bottom = svg->top + 10;
    /* Room for a name above the highest curve. */
    svg->bytes.end *= 1 + NAME_PX / (svg->bottom - svg->top);
}

/* For those who cannot see the picture, and for searching. */
static void put_description(struct ml_svg *svg)
{
    char peak[32], duration[32];

    ml_svg_put(svg, "<title id=\"title\">");
    ml_svg_put_text(svg, svg->opts->title);
    ml_svg_put(svg, "</title>\n<desc id=\"desc\">%c%s over time.",
               toupper((unsigned char)svg->opts->what[0]), svg->opts->what + 1);
    for (size_t i = 0; i < svg->count; i++) {
        const struct ml_timeline *t = svg->series[i].timeline;

        ml_svg_put(svg, " ");
        ml_svg_put_text(svg, svg->series[i].name);
        ml_svg_put(svg, ": peak %s, %s long.",
                   ml_format_bytes(peak, (int64_t)t->peak_bytes, svg->opts->unit),
                   ml_format_duration_ns(duration, (int64_t)t->duration_ns));
    }
    ml_svg_put(svg, "</desc>\n");
}

int ml_svg_plot(const struct ml_plot_series *series, size_t count, size_t buckets,
                const struct ml_plot_opts *opts, struct ml_buf *out)
{
    struct ml_svg svg = {
        .out = out, .series = series, .count = count, .buckets = buckets, .opts = opts};

    find_scales(&svg);
    lay_out(&svg);
    ml_svg_put(&svg,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
               "viewBox=\"0 0 %u %u\" role=\"img\" aria-labelledby=\"title desc\">\n",
               opts->width, opts->height, opts->width, opts->height);
    put_description(&svg);
    ml_svg_put_style(&svg);
    ml_svg_put(&svg, "<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n");
    ml_svg_put(&svg, "<text class=\"title\" x=\"%.1f\" y=\"%d\">", svg.left, MARGIN_PX + 14);
    ml_svg_put_text(&svg, opts->title);
    ml_svg_put(&svg, "</text>\n");
    ml_svg_put_legend(&svg, MARGIN_PX + TITLE_PX + 6);
    ml_svg_put_axes(&svg);
    ml_svg_put_curves(&svg);
    ml_svg_put_names(&svg);
    ml_svg_put(&svg, "</svg>\n");
    return svg.error;
}
