/* blocks_report.h: blocks from allocation to free, as text or JSON, or as the JSON of a picture.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_BLOCKS_REPORT_H
#define ML_REPORT_BLOCKS_REPORT_H

#include "json.h"
#include "lifetimes.h"
#include "style.h"

struct ml_blocks_report {
    const struct ml_trace *trace;
    const char *file; /* as the user gave it */
    const struct ml_lifetimes *lifetimes;
    const char *device;   /* NULL: all */
    const uint64_t *near; /* the address that was asked for; NULL: none */
};

/* @return 0 or -ENOMEM */
int ml_blocks_text(const struct ml_blocks_report *report, const struct ml_style *style,
                   struct ml_buf *out);
int ml_blocks_json(const struct ml_blocks_report *report, struct ml_buf *out);

/* One array for each fact instead of an object for each block, and the other blocks by column. */
int ml_blocks_picture_json(const struct ml_blocks_report *report, struct ml_buf *out);

/* The keys that both have, in an object that is open. */
void ml_blocks_head_json(const struct ml_blocks_report *report, struct ml_json *json);

#endif
