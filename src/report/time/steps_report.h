/* steps_report.h: the steps of a run, one by one, as text, JSON and CSV.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_STEPS_REPORT_H
#define ML_REPORT_STEPS_REPORT_H

#include "process_steps.h"
#include "style.h"

/* @file   the trace's name as the user gave it
 * @return 0 or negative errno */
int ml_steps_text(const struct ml_process_steps *steps, const char *file,
                  const struct ml_style *style, struct ml_buf *out);
int ml_steps_json(const struct ml_process_steps *steps, const char *file, struct ml_buf *out);
int ml_steps_csv(const struct ml_process_steps *steps, struct ml_buf *out);

#endif
