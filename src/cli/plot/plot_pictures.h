/* plot_pictures.h: opens the recordings of `memledger plot`, draws them, and writes one picture of
 * all or one of each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_PLOT_PICTURES_H
#define ML_CLI_PLOT_PICTURES_H

#include "arena.h"
#include "plot_request.h"

struct ml_plot_kind {
    ml_plot_draw_fn *draw;
    unsigned height; /* by default; 0: the drawing decides */
    enum {
        ML_PLOT_TOGETHER,
        ML_PLOT_ALONE,
        ML_PLOT_EACH
    } several;      /* how several recordings are drawn */
    bool of_a_time; /* --from and --to, instead of --at */
};

struct ml_plot_pictures {
    const struct ml_plot_cmd_opts *opts;
    const struct ml_plot_kind *kind;
    struct ml_picture_opts output;
    struct ml_at at;
    struct ml_expected_total expected;
    struct ml_baseline baseline;
    size_t count;
    const char *const *files;
    struct ml_trace **traces;
    const char **names;
    const char *common_name;
    struct ml_arena arena;
};

/* Opens the recordings and names them. @return an exit code; failures are printed */
int ml_plot_open(struct ml_plot_pictures *p);
void ml_plot_release(struct ml_plot_pictures *p);

/* Draws and writes the pictures. Precondition: the recordings are open.
 * @return an exit code; failures are printed */
int ml_plot_draw(struct ml_plot_pictures *p);

/* Whether `count` recordings from `first` on were all imported from files without times. */
bool ml_plot_no_times(const struct ml_plot_pictures *p, size_t first, size_t count);

#endif
