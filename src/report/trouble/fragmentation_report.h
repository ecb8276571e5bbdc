/* fragmentation_report.h: free memory inside segments, as text or JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_FRAGMENTATION_REPORT_H
#define ML_REPORT_FRAGMENTATION_REPORT_H

#include "free_space.h"
#include "style.h"

/* @file   the trace's name as the user gave it
 * @return 0 or -ENOMEM */
int ml_fragmentation_text(const struct ml_fragmentation *fragmentation, const char *file,
                          const struct ml_style *style, struct ml_buf *out);

/* @blocks  also the blocks of each listed segment */
int ml_fragmentation_json(const struct ml_fragmentation *fragmentation, const char *file,
                          bool blocks, struct ml_buf *out);

#endif
