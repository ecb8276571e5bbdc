/* health.h: what a reader must know before trusting a report: what is missing from the trace, and
 * where it is inconsistent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_HEALTH_H
#define ML_ANALYZE_HEALTH_H

#include "left_alone.h"
#include "replay.h"
#include "unknowns.h"
#include "window_begin.h"

struct ml_health {
    uint64_t lost;              /* events that were never written */
    uint64_t lost_ring_full;    /* of them: the recorder had no room */
    uint64_t lost_not_written;  /* the file could not be written */
    uint64_t lost_damaged;      /* the recorder's buffers were damaged */
    uint64_t lost_not_followed; /* blocks and objects whose later events are missing */
    uint64_t lost_other;
    uint64_t names_folded;    /* uses of names that ML_OTHER_NAMES replaced */
    uint64_t spaces_refused;  /* their allocations are not in the trace */
    uint64_t details_lost;    /* stacks, libraries, scopes and labels that did not fit */
    bool cut_short;           /* the recording has no proper end … */
    bool being_written;       /* … yet: it goes on */
    uint64_t silent_ns;       /* from its last event until it was read, while it goes on */
    uint64_t ignored_bytes;   /* in the incomplete block at its end */
    uint32_t damaged_blocks;  /* skipped */
    uint64_t damaged_events;  /* in these blocks, as far as known */
    uint64_t unknown_frees;   /* frees of blocks whose allocation is not in the trace */
    uint64_t inherited_frees; /* the same, where that is as it should be: after a fork or a pause,
                                 or if began_late */
    bool began_late;          /* malloc was recorded from the middle of the program on */
    bool attached;            /* everything was: by `memledger attach` */
    bool went_on;             /* the program ran on after the recording */
    uint64_t pauses;          /* of the recording, from outside … */
    uint64_t paused_ns;       /* … their length in all, up to now … */
    bool paused;              /* … and whether one goes on */
    uint64_t replaced;      /* blocks replaced by an allocation at their address, without a free */
    bool empty;             /* no allocation, in a run that recorded more than samples … */
    bool heap_recorded;     /* … also malloc: run --heap */
    bool heap_sampled;      /* … by samples, of which there may be none */
    bool heap_large;        /* … only large blocks, of which there may be none */
    char imported_from[24]; /* the format of the imported file; "": recorded */
    unsigned unknown;       /* facts that the file does not contain: bits of enum ml_unknown */
    bool inferred;          /* categories, modules and phases: from stacks */
    unsigned left_alone;    /* by the recorder: bits of enum ml_left_alone */
    uint64_t sampled_bytes; /* malloc: between two samples on average; 0: it was not sampled */
    uint64_t least_bytes;   /* malloc: of the smallest block that was recorded; 0: any */
    /* Of all counted spaces, if some are sampled, with standard errors; 0: not known. */
    uint64_t peak_bytes, peak_error;
    uint64_t allocated_bytes, allocated_error;
    uint64_t allocations, allocations_error;
    uint64_t left_bytes, left_error; /* never freed */
    struct ml_window_begin window;   /* where the trace begins, if only its last part was kept */
};

/* The health of the part of the trace that the replay has read. */
struct ml_health ml_health_of(const struct ml_replay *replay);

/* Whether the replay has read no allocation so far, for any reason. */
bool ml_health_no_allocations(const struct ml_replay *replay);

/* Whether the imported file contains no times, or no frees: figures based on them mean nothing. */
bool ml_health_no_times(const struct ml_health *health);
bool ml_health_no_frees(const struct ml_health *health);

/* Whether the imported file cannot contain allocations: that none is live means nothing. */
bool ml_health_no_blocks(const struct ml_health *health);
bool ml_trace_lacks_blocks(const struct ml_trace *trace);
bool ml_trace_lacks_times(const struct ml_trace *trace);

#endif
