/* health.h: what a reader must know before trusting a report: what is missing
 * from the trace, and where its books do not add up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_HEALTH_H
#define ML_ANALYZE_HEALTH_H

#include "replay.h"
#include "unknowns.h"

struct ml_health {
    uint64_t lost;              /* events that were never written */
    uint64_t lost_ring_full;    /* of them: the recorder had no room */
    uint64_t lost_not_written;  /* the file could not be written */
    uint64_t lost_damaged;      /* the recorder's buffers were damaged */
    uint64_t lost_not_followed; /* what became of so many blocks and objects */
    uint64_t lost_other;
    uint64_t names_folded;   /* uses of names that are called ML_OTHER_NAMES instead */
    uint64_t spaces_refused; /* whose allocations are not in the trace */
    bool cut_short;          /* the recording has no proper end … */
    bool being_written;      /* … yet: it goes on */
    uint64_t ignored_bytes;  /* of the incomplete block at its end */
    uint32_t damaged_blocks; /* passed over */
    uint64_t damaged_events; /* in them, as far as known */
    uint64_t unknown_frees;  /* frees of blocks whose allocation is not in the trace */
    uint64_t inherited_frees;
    uint64_t replaced;      /* blocks that ended without a free, by another in their place */
    bool empty;             /* no allocation, in a run that was more than sampled … */
    bool heap_recorded;     /* … though with malloc: run --heap */
    char imported_from[24]; /* the format of the file it was made of; "": recorded */
    unsigned unknown;       /* what that did not tell: bits of enum ml_unknown */
};

/* Of a replay, as far as it has read its trace. */
struct ml_health ml_health_of(const struct ml_replay *replay);

/* Whether it has read no allocation so far, whatever the reason. */
bool ml_health_no_allocations(const struct ml_replay *replay);

/* Whether the imported file told no times, or no frees: figures that rest on them mean
 * nothing. */
bool ml_health_no_times(const struct ml_health *health);
bool ml_health_no_frees(const struct ml_health *health);

#endif
