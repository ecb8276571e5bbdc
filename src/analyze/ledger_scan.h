/* ledger_scan.h: one pass over a trace for the ledger: which devices there are,
 * and at which event each one's book is to be opened. Only the ledger includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEDGER_SCAN_H
#define ML_ANALYZE_LEDGER_SCAN_H

#include "ledger.h"

/* What a program has on a device, most last. */
enum ml_ledger_use {
    ML_LEDGER_NONE,
    ML_LEDGER_CONTEXT, /* what the driver puts on every device it finds */
    ML_LEDGER_ENTRIES,
};

/* A sample, with what was known of other processes then. */
struct ml_ledger_sample {
    uint64_t event; /* its number, from 1; 0: there is none */
    uint64_t time_ns;
    uint64_t bits; /* enum ml_sample_bits */
    uint64_t used, free, total;
    bool has_others;
    uint64_t others;
};

struct ml_ledger_scan_device {
    const char *name;
    enum ml_ledger_use use; /* by recorded processes */
    uint32_t base_level;    /* the lowest level that is recorded here, 0: none */
    uint32_t running;       /* processes with entries that have not ended */
    bool has_before;        /* a sample came before all entries: */
    uint64_t before;        /* what was used then */
    struct ml_ledger_sample latest, peak, at, last, inside, before_end;
    uint64_t peak_bytes;          /* of the base level, in place of samples; */
    uint64_t peak_event, peak_ns; /* and where that was */
    uint64_t end_event, end_ns;   /* the last one before all its processes ended */
};

struct ml_ledger_scan {
    struct ml_replay replay; /* fed with the whole trace */
    uint64_t time_ns;        /* for `at` */
    uint64_t time_event;     /* the last event up to it */
    struct ml_intern names;  /* number: index into devices */
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

/* Where the book of the device is opened. Without a suitable sample its event is
 * the one that comes nearest, and it has no bits. */
struct ml_ledger_sample ml_ledger_instant(const struct ml_ledger_scan *scan,
                                          const struct ml_ledger_scan_device *device,
                                          const struct ml_ledger_opts *opts);

#endif
