/* source_labels.h: labels that the collector completes for a target.
 *
 * Each function takes the record that s is at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SOURCE_LABELS_H
#define ML_SOURCE_LABELS_H

#include <stdbool.h>

#include "dict.h"
#include "event.h"
#include "target.h"

/* ML_REC_EXPECT and ML_REC_EXPECT_OUTPUT */
void ml_source_expect(struct ml_source *s);
void ml_source_expect_output(struct ml_source *s);

/* ML_REC_LABEL_EXPECTED, as an ML_LABEL. @return whether there is one to write */
bool ml_source_label_expected(struct ml_dict *dict, struct ml_source *s, struct ml_event *ev);

#endif
