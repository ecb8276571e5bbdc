/* metrics_report.h: the state of followed runs as OpenMetrics text, which Prometheus reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_METRICS_REPORT_H
#define ML_REPORT_METRICS_REPORT_H

#include "live_view.h"

/* One recording: its totals with the rows of one list. */
struct ml_metrics_run {
    const char *file;
    struct ml_live_view by_category; /* of each device */
    struct ml_live_view by_module;
};

/* The text of all runs: families with their help, samples with labels, and "# EOF".
 * @return 0 or -ENOMEM */
int ml_metrics_text(const struct ml_metrics_run *runs, size_t count, struct ml_buf *out);

#endif
