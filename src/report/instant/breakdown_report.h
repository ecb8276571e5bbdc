/* breakdown_report.h: a breakdown as text, JSON and CSV.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_BREAKDOWN_REPORT_H
#define ML_REPORT_BREAKDOWN_REPORT_H

#include "breakdown.h"
#include "style.h"
#include "table.h"

/* The column of a key by which blocks are grouped; long names are cut by the key's rule. */
void ml_key_column(struct ml_table *table, enum ml_key key);

/* A group's name in such a column: "(no stack)" for "", C++ names in words. */
void ml_key_cell(struct ml_table *table, enum ml_key key, const char *name);

/* @file   the trace's name as the user gave it
 * @return 0 or negative errno */
int ml_breakdown_text(const struct ml_breakdown *breakdown, const char *file,
                      const struct ml_style *style, struct ml_buf *out);
int ml_breakdown_json(const struct ml_breakdown *breakdown, const char *file, struct ml_buf *out);
int ml_breakdown_csv(const struct ml_breakdown *breakdown, bool safe, struct ml_buf *out);

#endif
