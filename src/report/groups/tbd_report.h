/* tbd_report.h: TBD's analysis as its script prints and writes it, byte for
 * byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_TBD_REPORT_H
#define ML_REPORT_TBD_REPORT_H

#include "tbd_analysis.h"

/* The output on standard output.
 * @file   the log's name
 * @return 0 or -ENOMEM */
int ml_tbd_text(const struct ml_tbd_analysis *analysis, const char *file, struct ml_buf *out);

/* The file LOG_ANALYSIS. @return 0 or -ENOMEM */
int ml_tbd_json(const struct ml_tbd_analysis *analysis, struct ml_buf *out);

#endif
