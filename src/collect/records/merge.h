/* merge.h: all rings' records in the order in which they happened.
 *
 * The clock is read first (T), then the hellos of new rings, then each ring's
 * end; a pass takes only records stamped before T. Suppose thread B allocates
 * memory that thread A freed: A published its free before the allocator had the memory
 * back, so B's stamp is later than that. Either A's record was visible when its
 * ring's end was read, or it was published after T; then B's stamp is after T too,
 * and both wait for the next pass. So sorting by stamp within a pass is enough: no free is ever
 * written after the allocation that reuses its address. In the same way no record before T can
 * depend on a ring that is not known yet.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MERGE_H
#define ML_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "stage.h"

struct ml_merge {
    ML_VEC(struct ml_source *) heap; /* by stamp, the earliest first */
    uint64_t until;                  /* T, in ticks */
};

void ml_merge_release(struct ml_merge *m);

/* One pass over all targets of the stage, for records stamped before `until`:
 * the clock's last reading or less. Returns the number of words read from rings of
 * targets. */
uint64_t ml_merge_pass(struct ml_merge *m, struct ml_stage *stage, uint64_t until);

/* Wakes all threads that wait for room in a ring that has some. A pass wakes most of them on
 * its way, but may miss one that is about to sleep. Precondition: since the pass the caller has
 * made a sequentially consistent change to session->rounds, which those threads load after they
 * have announced that they wait. */
void ml_merge_wake(const struct ml_stage *stage);

#endif
