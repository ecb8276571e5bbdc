/* mxnet_report.h: the largest entries of each category as MXNet's pprint_top_entries.py
 * prints them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_MXNET_REPORT_H
#define ML_REPORT_MXNET_REPORT_H

#include "grouping.h"

#define ML_MXNET_TOP 20       /* entries that the script prints */
#define ML_MXNET_TAG_CHARS 50 /* of a tag, before ".." */

/* Sizes are GiB. @return 0 or -ENOMEM */
int ml_mxnet_text(const struct ml_grouping *grouping, struct ml_buf *out);

#endif
