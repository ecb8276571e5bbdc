/* compare_report.h: runs side by side as text and as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_COMPARE_REPORT_H
#define ML_REPORT_COMPARE_REPORT_H

#include "compare.h"
#include "compare_instants.h"
#include "compare_view.h"
#include "json.h"
#include "style.h"
#include "table.h"

/* @view   NULL for runs without allocations
 * @return 0 or negative errno */
int ml_compare_text(const struct ml_compare *compare, const struct ml_compare_view *view,
                    const struct ml_style *style, struct ml_buf *out);
int ml_compare_json(const struct ml_compare *compare, const struct ml_compare_view *view,
                    struct ml_buf *out);

/* Instants of one run. */
int ml_compare_instants_text(const struct ml_compare_instants *compared,
                             const struct ml_style *style, struct ml_buf *out);
int ml_compare_instants_json(const struct ml_compare_instants *compared, const char *file,
                             struct ml_buf *out);

/* The comparison by entry, with its heading or key. */
int ml_compare_view_text(const struct ml_compare *compare, const struct ml_compare_view *view,
                         const struct ml_style *style, struct ml_buf *out);
void ml_compare_view_json(const struct ml_compare *compare, const struct ml_compare_view *view,
                          struct ml_json *json);

/* "module GPT > head, category gradient", for sentences. */
int ml_compare_entry_text(const struct ml_compare_view *view, const struct ml_compare_entry *entry,
                          struct ml_buf *out);

/* Cells of a change: "+1.5 MiB" and "+3.0 %", or "new" and "gone". */
void ml_change_bytes_cell(struct ml_table *t, const struct ml_style *style,
                          const struct ml_change *change);
void ml_change_percent_cell(struct ml_table *t, const struct ml_change *change);

/* Both; empty for the first run. */
void ml_change_cells(struct ml_table *t, const struct ml_style *style, size_t run,
                     const struct ml_change *change);

/* "peak_bytes", "peak_bytes_difference", "peak_bytes_percent": null for an increase
 * from 0. */
void ml_change_json(const struct ml_change *change, const char *key, struct ml_json *json);

#endif
