/* step_table.h: the peaks and ends of steps, as bytes in a section of the directory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_STEP_TABLE_H
#define ML_ANALYZE_STEP_TABLE_H

#include "checkpoints.h"
#include "named_instants.h"

/* Appends the record. @return 0 or -ENOMEM */
int ml_step_table_put(const struct ml_named_instants *named, struct ml_buf *out);

/* Finds a step in the bytes of such a section.
 * @return 1, 0 if there is no such step, -EBADMSG */
int ml_step_table_find(const struct ml_buf *section, uint64_t number,
                       struct ml_checkpoint_step *ret);

#endif
