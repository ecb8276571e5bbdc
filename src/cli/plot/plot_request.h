/* plot_request.h: the options of `memledger plot`, and the functions that draw.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_PLOT_REQUEST_H
#define ML_CLI_PLOT_REQUEST_H

#include "baseline_option.h"
#include "expected_option.h"
#include "instant_command.h"
#include "plot_frame.h"

enum ml_plot_axes { ML_PLOT_AXES_SAME, ML_PLOT_AXES_EACH };
enum ml_plot_by {
    ML_PLOT_BY_CATEGORY,
    ML_PLOT_BY_MODULE,
    ML_PLOT_BY_DEVICE,
    ML_PLOT_BY_PROCESS,
    ML_PLOT_BY_STACK,
    ML_PLOT_BY_CALLERS,
    ML_PLOT_BY_RANK,
};

struct ml_plot_cmd_opts {
    struct ml_instant_opts instant; /* first, as its option entries require */
    const char *output, *title, *labels;
    const char *dictionaries, *expected; /* NULL: the kind's default; none */
    const char *baseline;                /* NULL: none */
    int kind;                            /* index of the kind */
    int by;                              /* enum ml_plot_by */
    int axes;                            /* enum ml_plot_axes */
    int of;                              /* enum ml_cost */
    int64_t width, height, top;
    int64_t depth;           /* of modules in a timeline; 0: as fits */
    uint64_t from_ns, to_ns; /* UINT64_MAX: to the end */
    double scale, min_share;
    bool dark, force, grid, gross;
};

/* Open recordings; a picture shows some or all of them. */
struct ml_plot_request {
    const struct ml_plot_cmd_opts *opts;
    struct ml_at at;
    struct ml_expected_total expected;
    struct ml_baseline baseline;
    struct ml_plot_opts picture; /* its title is the default if none was given */
    const char *const *names;    /* of the recordings */
    const char *common_name;     /* the part that the names of their files share, or "" */
    struct ml_trace *const *traces;
    size_t count;
    struct ml_buf *numbers; /* gets the timeline as JSON, instead of a picture; NULL: draw */
};

/* The timeline of one or several recordings by rank. @return 0 or negative errno */
int ml_draw_job(const struct ml_plot_request *request, struct ml_canvas *canvas,
                struct ml_error *err);

/* Draws all recordings of the request. @return an exit code; failures are printed */
typedef int ml_plot_draw_fn(const struct ml_plot_request *request, struct ml_canvas *canvas);

ml_plot_draw_fn ml_draw_timeline, ml_draw_bars, ml_draw_categories, ml_draw_flame, ml_draw_icicle,
    ml_draw_lifetimes, ml_draw_segments;

#endif
