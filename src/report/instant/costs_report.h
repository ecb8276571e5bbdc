/* costs_report.h: the figures of a run by group, and by call as a tree.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_COSTS_REPORT_H
#define ML_REPORT_COSTS_REPORT_H

#include "call_tree.h"
#include "costs.h"
#include "json.h"
#include "style.h"

/* All return 0 or -ENOMEM.
 * @file  the trace's name as the user gave it */
int ml_costs_text(const struct ml_cost_report *report, const char *file,
                  const struct ml_style *style, struct ml_buf *out);
int ml_costs_json(const struct ml_cost_report *report, const char *file, struct ml_buf *out);

/* @safe  keep spreadsheets from running cells as formulas */
int ml_costs_csv(const struct ml_cost_report *report, bool safe, struct ml_buf *out);

/* Warnings, the command, and a line with the five totals. */
int ml_costs_heading(const struct ml_cost_report *report, const char *file,
                     const struct ml_style *style, struct ml_buf *out);

/* The keys from "file" to "total", in an object that is open. */
void ml_costs_head_json(const struct ml_cost_report *report, const char *file,
                        struct ml_json *json);

/* "bytes never freed". */
const char *ml_cost_phrase(enum ml_cost cost);

int ml_call_tree_text(const struct ml_call_tree *tree, const char *file,
                      const struct ml_style *style, struct ml_buf *out);
int ml_call_tree_json(const struct ml_call_tree *tree, const char *file, struct ml_buf *out);

#endif
