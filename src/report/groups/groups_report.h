/* groups_report.h: tags in the categories of keyword dictionaries, as text and JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_GROUPS_REPORT_H
#define ML_REPORT_GROUPS_REPORT_H

#include "grouping.h"
#include "json.h"
#include "style.h"

/* The beginning of a report on one trace: when, and how much.
 * @return 0 or -ENOMEM, as all of these */
int ml_groups_head_text(const struct ml_tag_list *list, const char *file,
                        const struct ml_style *style, struct ml_buf *out);
void ml_groups_head_json(const struct ml_tag_list *list, const char *file, struct ml_json *json);

/* The groups of one dictionary. */
int ml_groups_text(const struct ml_grouping *grouping, const struct ml_style *style,
                   struct ml_buf *out);
void ml_groups_json(const struct ml_grouping *grouping, struct ml_json *json);

#endif
