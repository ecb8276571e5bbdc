/* snapshot_report.h: the beginning of every report on one instant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_SNAPSHOT_REPORT_H
#define ML_REPORT_SNAPSHOT_REPORT_H

#include "json.h"
#include "snapshot.h"
#include "style.h"

/* Warnings, and the command with its time and host.
 * @file   the trace's name as the user gave it
 * @return 0 or -ENOMEM */
int ml_snapshot_origin_text(const struct ml_snapshot *at, const char *file,
                            const struct ml_style *style, struct ml_buf *out);

/* The same as the keys from "file" to "health", in an object that is open. */
void ml_snapshot_origin_json(const struct ml_snapshot *at, const char *file, struct ml_json *json);

/* The origin, and a heading: how much was live, when, and on which device.
 * @file   the trace's name as the user gave it
 * @return 0 or -ENOMEM */
int ml_snapshot_text(const struct ml_snapshot *at, const char *file, const struct ml_style *style,
                     struct ml_buf *out);

/* The keys from "file" to "blocks", in an object that is open. */
void ml_snapshot_json(const struct ml_snapshot *at, const char *file, struct ml_json *json);

/* " (peak)", " (peak of step 3)", "" for a time. @return buf */
const char *ml_instant_words(const struct ml_at *at, char buf[64]);

/* " at 5.27 s (peak)"; without the time if an imported file has none.
 * @return buf */
const char *ml_instant_phrase(const struct ml_instant *instant, char buf[128]);

#endif
