/* summary_report.h: a summary as text and as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_SUMMARY_REPORT_H
#define ML_REPORT_SUMMARY_REPORT_H

#include "json.h"
#include "style.h"
#include "summary.h"

/* @file   the trace's name as the user gave it
 * @return 0 or negative errno */
int ml_summary_text(const struct ml_summary *summary, const char *file,
                    const struct ml_style *style, struct ml_buf *out);
int ml_summary_json(const struct ml_summary *summary, const char *file, struct ml_buf *out);

/* The members of a set of figures, in an open object. */
void ml_figures_json(const struct ml_figures *figures, struct ml_json *json);

/* How a process is named in JSON. */
struct ml_process_names {
    uint32_t pid;
    const char *command;
    const char *role; /* NULL: none */
    uint32_t rank;    /* 1 + its number in a job; 0: none */
};

/* The members that name a process, in an open object. */
void ml_process_json(const struct ml_process_names *names, struct ml_json *json);

#endif
