/* metrics_report.h: the state of followed runs as text that Prometheus reads: OpenMetrics, or the
 * older format 0.0.4, which is the only one that node_exporter's textfile collector reads.
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

enum ml_metrics_format { ML_METRICS_OPEN, ML_METRICS_0_0_4 };

/* The text of all runs: families with their help, samples with labels, and in OpenMetrics "# EOF".
 * @return 0 or -ENOMEM */
int ml_metrics_text(const struct ml_metrics_run *runs, size_t count, enum ml_metrics_format format,
                    struct ml_buf *out);

#endif
