/* svg_style.c: colours, dash patterns and the style sheet of a plot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>
#include <strings.h>

#include "svg_parts.h"

struct colours {
    const char *name; /* a series of this name gets them; NULL: any */
    const char *light, *dark;
};

/* The convolution algorithms have had their colours for long; other series take
 * what is left, in this order. */
static const struct colours palette[] = {
    {"DIRECT", "deepskyblue", "deepskyblue"},
    {"IM2COL", "green", "#4cc94c"},
    {"FFT", "darkred", "#ff6b5e"},
    {"WINOGRAD", "gold", "gold"},
    {"CUDNN", "violet", "violet"},
    {NULL, "#d95f02", "#ff9a4d"},
    {NULL, "#5e3c99", "#b39ddb"},
    {NULL, "#1b7f79", "#5fd3c9"},
    {NULL, "#7f7f7f", "#b8b8b8"},
    {NULL, "#a6761d", "#d9b35b"},
};

/* Of what the driver says: the text's. */
static const struct colours truth = {NULL, "#1d2329", "#e8ebee"};

static const char *const dashes[] = {"none", "8 3", "2 2.5", "10 3 2 3", "5 2", "12 3 2 3 2 3"};

#define PALETTE_SIZE (sizeof(palette) / sizeof(palette[0]))
#define DASH_COUNT (sizeof(dashes) / sizeof(dashes[0]))

/* The colours that a series has by its name, or -1. */
static int named_colours(const char *name)
{
    for (size_t i = 0; i < PALETTE_SIZE; i++)
        if (palette[i].name && strcasecmp(palette[i].name, name) == 0)
            return (int)i;
    return -1;
}

static bool taken_by_name(const struct ml_svg *svg, size_t colours)
{
    for (size_t i = 0; i < svg->count; i++)
        if (named_colours(svg->series[i].name) == (int)colours)
            return true;
    return false;
}

static const struct colours *colours_of(const struct ml_svg *svg, size_t series)
{
    int named = named_colours(svg->series[series].name);
    size_t unnamed_before = 0, free_seen = 0, free_total = 0;

    if (named >= 0)
        return &palette[named];
    for (size_t i = 0; i < series; i++)
        unnamed_before += named_colours(svg->series[i].name) < 0;
    for (size_t i = 0; i < PALETTE_SIZE; i++)
        free_total += !taken_by_name(svg, i);
    for (size_t i = 0; i < PALETTE_SIZE; i++)
        if (!taken_by_name(svg, i) && free_seen++ == unnamed_before % free_total)
            return &palette[i];
    return &palette[0];
}

static void put_series_rules(struct ml_svg *svg, bool dark)
{
    for (size_t i = 0; i < svg->count; i++) {
        const struct colours *c = svg->series[i].is_truth ? &truth : colours_of(svg, i);
        const char *colour = dark ? c->dark : c->light;

        ml_svg_put(svg, ".l%zu{stroke:%s}.f%zu{fill:%s}\n", i, colour, i, colour);
    }
}

static void put_light_rules(struct ml_svg *svg)
{
    ml_svg_put(svg, ".paper{fill:#fff}text{fill:#1d2329}.quiet{fill:#56606b}"
                    ".grid{stroke:#e6e9ed}.axis{stroke:#8b949e}"
                    ".halo{stroke:#fff}.ring{fill:#fff}\n");
    put_series_rules(svg, false);
}

static void put_dark_rules(struct ml_svg *svg)
{
    ml_svg_put(svg, ".paper{fill:#14181d}text{fill:#e8ebee}.quiet{fill:#a4adb7}"
                    ".grid{stroke:#2a3038}.axis{stroke:#6b7580}"
                    ".halo{stroke:#14181d}.ring{fill:#14181d}\n");
    put_series_rules(svg, true);
}

void ml_svg_put_style(struct ml_svg *svg)
{
    ml_svg_put(svg,
               "<style>\n"
               "text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;"
               "font-size:%dpx}\n"
               ".title{font-size:18px;font-weight:600}.name{font-weight:600}\n"
               ".line,.edge{fill:none;stroke-width:1.8;stroke-linejoin:round}"
               ".edge{stroke:#000;stroke-width:2.8;stroke-opacity:.22}.fill{fill-opacity:.16}\n"
               ".line.truth{stroke-width:1.1}"
               ".halo{stroke-width:4;stroke-linejoin:round;fill:none}.ring{stroke-width:1.8}\n",
               ML_SVG_TEXT_PX);
    for (size_t i = 0; i < svg->count; i++)
        ml_svg_put(svg, ".l%zu{stroke-dasharray:%s}\n", i,
                   svg->series[i].is_truth ? "none" : dashes[i % DASH_COUNT]);
    if (svg->opts->dark) {
        put_dark_rules(svg);
    } else {
        put_light_rules(svg);
        ml_svg_put(svg, "@media (prefers-color-scheme:dark){\n");
        put_dark_rules(svg);
        ml_svg_put(svg, "}\n");
    }
    ml_svg_put(svg, "@media print{\n");
    put_light_rules(svg);
    ml_svg_put(svg, "}\n</style>\n");
}
