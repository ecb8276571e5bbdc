/* ledger_scan.h: one pass over a trace for the ledger: which devices there are,
 * and at which event each one's book is to be opened. Only the ledger includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEDGER_SCAN_H
#define ML_ANALYZE_LEDGER_SCAN_H

#include "ledger.h"
#include "ledger_leaving.h"
#include "ledger_plateau.h"

/* What a program has on a device, most last. */
enum ml_ledger_use {
    ML_LEDGER_NONE,
    ML_LEDGER_CONTEXT, /* what the driver puts on every device it finds */
    ML_LEDGER_ENTRIES,
};

/* The samples that may be asked for, and how long their figures hold. */
enum ml_ledger_kept {
    ML_KEPT_LATEST,
    ML_KEPT_PEAK,       /* the most used */
    ML_KEPT_PEAK_AGAIN, /* as much once more */
    ML_KEPT_TIME,       /* the last one up to a time */
    ML_KEPT_LAST,       /* a program's last word */
    ML_KEPT_INSIDE,     /* the last one that was read inside a program */
    ML_KEPT_WHOLE,      /* the last one that lacks no process */
    ML_KEPT_BEFORE_END, /* the last one before all processes on the device ended */
    ML_KEPT_BOOKED,     /* no sample: where most was booked, for want of one */
    ML_LEDGER_KEPT,
};

struct ml_ledger_scan_device {
    const char *name;
    enum ml_ledger_use use; /* by recorded processes */
    uint32_t base_level;    /* the lowest level that is recorded here, 0: none */
    bool has_before;        /* a sample came before all entries: */
    uint64_t before;        /* what was used then */
    struct ml_ledger_plateau kept[ML_LEDGER_KEPT];
    uint64_t booked_bytes;       /* the most there was of the base level */
    struct ml_ledger_moment end; /* before all its processes ended */
    struct ml_ledger_users users;
    uint64_t stale_ns;     /* up to here a sample may still have what a process had */
    uint64_t stale_used;   /* that has ended: if it says this; stale_ns 0: none may */
    uint64_t ended_ns;     /* all had ended by the time asked for; 0: not so */
    uint64_t inside_ns[2]; /* last reading inside up to that time, first after; 0: none */
};

struct ml_ledger_scan {
    struct ml_replay replay; /* fed with the whole trace; its totals, without blocks */
    struct ml_ledger_lives lives;
    uint64_t time_ns;       /* for ML_KEPT_TIME */
    uint64_t time_event;    /* the last event up to it */
    uint64_t previous_ns;   /* the event before this one */
    struct ml_intern names; /* number: index into devices */
    ML_VEC(struct ml_ledger_scan_device) devices;
    ML_VEC(uint32_t) device_of_space; /* by index in the replay; + 1 */
    struct ml_map resident;           /* process -> bytes, on the host */
    uint64_t resident_bytes;          /* of all */
    struct ml_map entered;            /* process and device, once it has entries */
};

/* @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_ledger_scan(const struct ml_trace *trace, const struct ml_ledger_opts *opts,
                   struct ml_ledger_scan *ret, struct ml_error *err);
void ml_ledger_scan_release(struct ml_ledger_scan *scan);

/* Where the book of a device is opened. */
struct ml_ledger_instant {
    struct ml_ledger_sample sample; /* without a suitable one it has no bits */
    struct ml_ledger_moment moment;
};

struct ml_ledger_instant ml_ledger_instant(const struct ml_ledger_scan *scan,
                                           const struct ml_ledger_scan_device *device,
                                           const struct ml_ledger_opts *opts);

#endif
