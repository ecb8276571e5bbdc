/* summary_steps.h: the steps of a summary, as text and as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_SUMMARY_STEPS_H
#define ML_REPORT_SUMMARY_STEPS_H

#include "json.h"
#include "steps.h"
#include "style.h"
#include "table.h"

/* A line for all, and a table if they are few; nothing for one step or none.
 * @return 0 or negative errno */
int ml_summary_steps_line(const struct ml_steps *steps, const struct ml_style *style,
                          struct ml_buf *out);
int ml_summary_steps_table(const struct ml_steps *steps, const struct ml_style *style,
                           struct ml_buf *out);

/* The rows of a table of steps, by time: each step, the evaluations between them, and the time
 * after the last. */
enum ml_step_kind { ML_ROW_STEP, ML_ROW_EVALUATION, ML_ROW_AFTER };
typedef void ml_step_row_function(void *ctx, const struct ml_step *step, enum ml_step_kind kind);
void ml_summary_steps_rows(const struct ml_steps *steps, ml_step_row_function *put, void *ctx);

/* The cell of a row's name: a step's number, "eval" or "after". */
void ml_summary_steps_name(struct ml_table *t, const struct ml_step *step, enum ml_step_kind kind);

/* The members "steps", with all steps, "evaluations" and "after_steps" of an open object. */
void ml_summary_steps_json(const struct ml_steps *steps, struct ml_json *json);

#endif
