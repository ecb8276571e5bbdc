/* torch_past.h: a device's state before the first entry of its trace.
 *
 * A trace is the last N entries of a longer one, so it frees blocks that it never allocated.
 * The state at its end is known, from `segments`; undoing the entries from the last to the
 * first gives the state at its beginning.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_PAST_H
#define ML_TORCH_PAST_H

#include "torch_ranges.h"
#include "torch_snapshot.h"

struct ml_torch_past {
    ML_VEC(struct ml_torch_block) blocks;     /* by address */
    ML_VEC(struct ml_torch_segment) segments; /* by address; those that do not expand */
    struct ml_torch_ranges mapped;            /* mapped parts of expandable segments */
};

/* Also fills in the slack of entries whose blocks are live at the end.
 * @ret    the caller releases it, also after a failure
 * @return 0 or -ENOMEM */
int ml_torch_past_find(struct ml_torch_snapshot *t, uint32_t device, struct ml_torch_past *ret);
void ml_torch_past_release(struct ml_torch_past *past);

#endif
