/* ledger_scan.h: one pass over a trace that finds its devices, and the event at which each book
 * is opened. Only the ledger includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEDGER_SCAN_H
#define ML_ANALYZE_LEDGER_SCAN_H

#include "ledger.h"
#include "ledger_leaving.h"
#include "ledger_plateau.h"

/* The use of a device by a program, in increasing order. */
enum ml_ledger_use {
    ML_LEDGER_NONE,
    ML_LEDGER_CONTEXT, /* the driver puts it on every device it finds */
    ML_LEDGER_ENTRIES,
};

/* The samples that a ledger may need, with the plateaus of their figures. */
enum ml_ledger_kept {
    ML_KEPT_LATEST,
    ML_KEPT_PEAK,       /* the highest use */
    ML_KEPT_PEAK_AGAIN, /* a later one as high */
    ML_KEPT_TIME,       /* the last one up to a time */
    ML_KEPT_LAST,       /* the last one of a program */
    ML_KEPT_INSIDE,     /* the last one taken inside a program */
    ML_KEPT_WHOLE,      /* the last one without missing processes */
    ML_KEPT_BEFORE_END, /* the last one before all processes on the device ended */
    ML_KEPT_BOOKED,     /* no sample: the peak of booked memory, if there are no samples */
    ML_LEDGER_KEPT,
};

/* Memory that a process had before its recording began. */
enum ml_ledger_older { ML_OLDER_NONE, ML_OLDER_OWN, ML_OLDER_ALL /* of all processes */ };

struct ml_ledger_scan_device {
    const char *name;
    enum ml_ledger_use use; /* by recorded processes */
    uint32_t base_level;    /* the lowest recorded level here, 0: none */
    bool has_before;        /* there was a sample before all entries: */
    uint64_t before;        /* the memory in use at that sample */
    enum ml_ledger_older older;
    bool older_is_new; /* its own sample follows */
    struct ml_ledger_plateau kept[ML_LEDGER_KEPT];
    uint64_t booked_bytes;       /* the peak at the base level */
    struct ml_ledger_moment end; /* before all its processes ended */
    struct ml_ledger_users users;
    uint64_t stale_ns; /* until then a sample of stale_used predates an end; 0: none does */
    uint64_t stale_used;
    uint64_t ended_ns;     /* all had ended by the requested time; else 0 */
    uint64_t inside_ns[2]; /* last sample inside a program up to that time, first after; 0: none */
};

struct ml_ledger_scan {
    struct ml_replay replay; /* read the whole trace; its totals, without blocks */
    struct ml_ledger_lives lives;
    uint64_t time_ns;       /* for ML_KEPT_TIME */
    uint64_t time_event;    /* the last event up to it */
    uint64_t previous_ns;   /* of the previous event */
    struct ml_intern names; /* number: index into devices */
    ML_VEC(struct ml_ledger_scan_device) devices;
    ML_VEC(uint32_t) device_of_space; /* by index in the replay; + 1 */
    struct ml_map resident;           /* process -> bytes, on the host */
    uint64_t resident_bytes;          /* the sum */
    struct ml_map entered;            /* process and device -> has entries */
};

/* @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_ledger_scan(const struct ml_trace *trace, const struct ml_ledger_opts *opts,
                   struct ml_ledger_scan *ret, struct ml_error *err);
void ml_ledger_scan_release(struct ml_ledger_scan *scan);

/* The same for a book at a given time, from a checkpoint on.
 * @return 0, -ENOENT if the whole trace must be read, or another negative errno */
int ml_ledger_scan_near(const struct ml_trace *trace, const struct ml_ledger_opts *opts,
                        struct ml_ledger_scan *ret, struct ml_error *err);

/* ---- Its steps, for ml_ledger_scan_near ------------------------------------ */

/* Before the first event; processes that leave are not known. @return 0 or -ENOMEM */
int ml_ledger_scan_begin(const struct ml_trace *trace, const struct ml_ledger_opts *opts,
                         struct ml_ledger_scan *ret);
int ml_ledger_scan_feed(struct ml_ledger_scan *scan, const struct ml_event *event);

/* The index of the device of that name, added if it is new; or -ENOMEM. */
int64_t ml_ledger_scan_device(struct ml_ledger_scan *scan, uint32_t name);

/* Whether a sample has the figure of the device, by its index, and not something else. */
bool ml_ledger_scan_counts(const struct ml_ledger_scan *scan, int64_t device,
                           const struct ml_event *sample);

/* A sample, or the end of a process, outside of the part that is fed. Of a sample before it, what
 * later ones build on is kept. @return 0 or -ENOMEM */
int ml_ledger_scan_pass(struct ml_ledger_scan *scan, const struct ml_event *event, bool before);

/* A space of the replay had allocations before the first event that is fed. @return as above */
int ml_ledger_scan_enter(struct ml_ledger_scan *scan, uint32_t space);

/* A space of the replay had allocations at any time. @return as above */
int ml_ledger_scan_use(struct ml_ledger_scan *scan, uint32_t space);

/* The instant at which the book of a device is opened. */
struct ml_ledger_instant {
    struct ml_ledger_sample sample; /* no bits if none is suitable */
    struct ml_ledger_moment moment;
};

struct ml_ledger_instant ml_ledger_instant(const struct ml_ledger_scan *scan,
                                           const struct ml_ledger_scan_device *device,
                                           const struct ml_ledger_opts *opts);

#endif
