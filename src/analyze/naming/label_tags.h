/* label_tags.h: what a label says of its block by the word it begins with, where whoever
 * gave it said no category: MXNet's own labels, "data_entry:fc1_fwd_oedge0".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LABEL_TAGS_H
#define ML_ANALYZE_LABEL_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words end with a colon; what stands before the first that is known does not matter. That
 * of an argument does not say whether it is a parameter or an input, so it is not known.
 * @return a category, MEMLEDGER_OTHER: it says nothing */
uint8_t ml_label_tag(const char *label, size_t len);

#endif
