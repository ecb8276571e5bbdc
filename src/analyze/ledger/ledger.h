/* ledger.h: the book of a device at one instant: what the driver says is used,
 * the entries that make it up, and what is left unexplained.
 *
 *     used = entries + unexplained
 *
 * holds by construction, and the bytes of every entry are the sum of those below
 * it. Only a sample has the driver's figure, which then holds until the driver gives
 * or takes something; the book is the live table at a moment of that time, where
 * the blocks that explain the figure have been reported. Without samples there is
 * a book, and no remainder is claimed.
 *
 * On the host the figure is the resident memory of the recorded processes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEDGER_H
#define ML_ANALYZE_LEDGER_H

#include "arena.h"
#include "instant.h"
#include "trace.h"
#include "vec.h"

#define ML_LEDGER_HOST "cpu"

/* Books that are opened at once. Each takes a reading of the trace, and only a damaged file,
 * or one of many machines, has more devices. */
#define ML_LEDGER_DEVICES_MAX 64

struct ml_ledger_opts {
    struct ml_at at;    /* of a refusal or a step: its time */
    const char *device; /* "cuda:0", "0" for it, "cpu"; NULL: all GPUs that the program used */
    size_t top;         /* scopes and owners to list in a group; the rest is one entry */
};

struct ml_ledger_entry {
    const char *name;
    int64_t bytes;                          /* negative where books contradict each other */
    bool rest;                              /* several small ones together: stands last */
    bool inferred;                          /* not recorded, concluded from the others */
    uint64_t of_bytes;                      /* of an inferred entry: the most it can be */
    double percent;                         /* of used; 0 when that is not known */
    ML_VEC(struct ml_ledger_entry) entries; /* most bytes first */
};

struct ml_ledger_device {
    const char *name;
    const char *model; /* of the GPU; NULL: not recorded */
    bool host;         /* used is what recorded processes have resident */
    uint64_t at_ns;    /* of the book */
    bool sampled;      /* the driver's figures are known: used, unexplained */
    uint64_t sample_ns;
    bool has_free, has_total, has_reserved;
    bool others_known; /* what other processes use */
    uint64_t used_bytes, free_bytes, total_bytes;
    uint64_t reserved_bytes;     /* by driver and firmware: neither used nor free */
    struct ml_ledger_entry book; /* all entries; its bytes are what is explained */
    int64_t unexplained_bytes;
    double unexplained_percent;
    uint64_t stray_bytes; /* of blocks outside all driver allocations: not in the book */
    bool balanced;        /* entries add up, and with the remainder to used */
    uint64_t ended_ns;    /* at a time: all processes here had ended by then; 0: not so */
    uint64_t between_ns;  /* at a time, within a call perhaps: the nearest between two; 0: none */
};

struct ml_ledger {
    struct ml_arena arena; /* all strings here */
    const char *command;   /* NULL: not recorded */
    const char *host;
    uint64_t start_wall_ns;
    struct ml_at at;
    uint64_t run_ended_ns; /* the time asked for is after it; 0: it is not */
    struct ml_health health;
    ML_VEC(struct ml_ledger_device) devices; /* by name */
    size_t bare_devices;     /* left out: nothing but the driver's context is there */
    size_t unlisted_devices; /* left out: ML_LEDGER_DEVICES_MAX have used more */
};

/* Reads the trace once to find the instants, and once more for each device.
 * @ret    to be released, after a failure too
 * @return 0; -ENODEV when there is no such device, and `err` names what there is;
 *         or another negative errno */
int ml_ledger(const struct ml_trace *trace, const struct ml_ledger_opts *opts,
              struct ml_ledger *ret, struct ml_error *err);
void ml_ledger_release(struct ml_ledger *ledger);

#endif
