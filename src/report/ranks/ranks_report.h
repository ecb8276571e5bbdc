/* ranks_report.h: a job and its ranks as text and JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_RANKS_REPORT_H
#define ML_REPORT_RANKS_REPORT_H

#include "ranks.h"
#include "style.h"

/* "rank 37: +4.1 GiB activations in layers.11: ...", the same sentence for text, JSON and pages.
 * @return 0 or -ENOMEM, as all of these */
int ml_rank_finding_words(const struct ml_rank_finding *finding, const struct ml_style *style,
                          struct ml_buf *out);

/* @top  rows of the table of ranks */
int ml_ranks_text(const struct ml_ranks *ranks, size_t top, const struct ml_style *style,
                  struct ml_buf *out);
int ml_ranks_json(const struct ml_ranks *ranks, struct ml_buf *out);

#endif
