/* ledger_leaving.h: finds processes that have no memory left on a device although their end comes
 * later in the trace. Only the ledger includes it.
 *
 * The driver reclaims all memory while a process ends, and the collector notices the end a moment
 * later. A sample taken in between lacks memory that the book still has. The remainder, used less
 * booked memory, shows which process is missing: it falls by the memory of that process. While
 * the driver has reclaimed only a part, the sample fits no book and is skipped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEDGER_LEAVING_H
#define ML_ANALYZE_LEDGER_LEAVING_H

#include "ledger_plateau.h"
#include "replay.h"

/* The longest delay between an end and its event: the driver may take seconds to reclaim the
 * memory of a large process, and the collector may wait for a processor. */
#define ML_LEDGER_LEAVING_NS UINT64_C(5000000000)

/* Whether a thread of the program caused it, not the collector. */
bool ml_ledger_is_own(const struct ml_event *event);

/* Events are numbered from 1; 0: none. */
struct ml_ledger_life {
    uint64_t last_event; /* caused by its own threads */
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

/* The state of a device at the current event. */
struct ml_ledger_users {
    ML_VEC(uint32_t)
    running;            /* processes with entries that have not ended; indices in the replay */
    bool has_remainder; /* from a time when no process was missing: */
    bool inside;        /* sampled inside a program: no driver call was running */
    int64_t remainder;
};

/* Finds the processes that have left the device by the time of a sample, sample->left.
 * @replay      fed up to the sample
 * @device      in the replay
 * @level       the lowest recorded one
 * @ret_settled false: some process has lost only a part of its memory
 * @return 0 or -ENOMEM */
int ml_ledger_find_left(struct ml_ledger_lives *lives, const struct ml_replay *replay,
                        uint32_t device, uint32_t level, struct ml_ledger_users *users,
                        struct ml_ledger_sample *sample, bool *ret_settled);

/* Whether the memory of the process is missing in the sample. */
bool ml_ledger_has_left(const struct ml_ledger_lives *lives, const struct ml_ledger_sample *sample,
                        uint32_t process);

/* The memory that the driver gave to a process (by its index in the replay) on the device. */
uint64_t ml_ledger_given(const struct ml_replay *replay, uint32_t process, uint32_t device,
                         uint32_t level);

#endif
