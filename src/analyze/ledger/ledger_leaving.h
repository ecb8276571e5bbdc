/* ledger_leaving.h: which processes have nothing left on a device, though their end comes
 * later in the trace. Only the ledger includes it.
 *
 * The driver takes everything back while a process ends; the collector finds the end a moment
 * later. A sample from between lacks what the book still has. Which process a sample lacks
 * shows in the remainder, what is used less what is booked: it falls by what that process
 * had. While only a part is taken back the sample goes with no book and is passed over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEDGER_LEAVING_H
#define ML_ANALYZE_LEDGER_LEAVING_H

#include "ledger_plateau.h"
#include "replay.h"

/* Events count from 1; 0: there is none. */
struct ml_ledger_life {
    uint64_t last_event; /* of its own */
    uint64_t end_event;
    uint64_t end_ns;
};

struct ml_ledger_lives {
    ML_VEC(struct ml_ledger_life) of; /* by process */
    ML_VEC(uint32_t) left;            /* processes; samples refer to parts of it */
};

/* Reads the whole trace.
 * @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_ledger_lives(const struct ml_trace *trace, struct ml_ledger_lives *ret,
                    struct ml_error *err);
void ml_ledger_lives_release(struct ml_ledger_lives *lives);

/* A device as far as the trace is read. */
struct ml_ledger_users {
    ML_VEC(uint32_t)
    running;            /* processes with entries that have not ended: their indices in
                           the replay */
    bool has_remainder; /* of when all were there: */
    bool inside;        /* read inside a program: no call was under way */
    int64_t remainder;
};

/* Finds who has left the device by the time of a sample, sample->left.
 * @replay      fed up to the sample
 * @device      in the replay
 * @level       the lowest that is recorded
 * @ret_settled false: of some a part is taken back
 * @return 0 or -ENOMEM */
int ml_ledger_find_left(struct ml_ledger_lives *lives, const struct ml_replay *replay,
                        uint32_t device, uint32_t level, struct ml_ledger_users *users,
                        struct ml_ledger_sample *sample, bool *ret_settled);

/* Whether the sample lacks what the process had. */
bool ml_ledger_has_left(const struct ml_ledger_lives *lives, const struct ml_ledger_sample *sample,
                        uint32_t process);

/* What the driver gave to a process (by its index in the replay) on the device. */
uint64_t ml_ledger_given(const struct ml_replay *replay, uint32_t process, uint32_t device,
                         uint32_t level);

#endif
