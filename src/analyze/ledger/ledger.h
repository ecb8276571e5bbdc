/* ledger.h: the book of a device at one instant: the driver's figure of used memory, the entries
 * that make it up, and the unexplained remainder.
 *
 *     used = entries + unexplained
 *
 * holds by construction, and the bytes of every entry are the sum of those below it. Only a
 * sample has the driver's figure, which stays valid until the driver next gives or takes memory.
 * The book is the live table at a moment of that time at which the blocks that explain the figure
 * have been reported. Without samples there is a book but no remainder.
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

/* The most books in one ledger. Each needs a pass over the trace, and only a damaged file or one
 * from many machines has more devices. */
#define ML_LEDGER_DEVICES_MAX 64

struct ml_ledger_opts {
    struct ml_at at;    /* for a refusal or a step: its time */
    const char *device; /* "cuda:0", "0" for short, "cpu"; NULL: all GPUs that the program used */
    size_t top;         /* scopes and owners to list in a group; the rest is one entry */
};

struct ml_ledger_entry {
    const char *name;
    int64_t bytes;                          /* negative if figures contradict each other */
    bool rest;                              /* several small ones together; always last */
    bool inferred;                          /* not recorded, but concluded from the others */
    uint64_t of_bytes;                      /* for an inferred entry: its upper limit */
    double percent;                         /* of used; 0 if that is unknown */
    ML_VEC(struct ml_ledger_entry) entries; /* most bytes first */
};

struct ml_ledger_device {
    const char *name;
    const char *model; /* of the GPU; NULL: not recorded */
    bool host;         /* used is the resident memory of the recorded processes */
    uint64_t at_ns;    /* of the book */
    bool sampled;      /* the driver's figures are known: used, unexplained */
    uint64_t sample_ns;
    bool has_free, has_total, has_reserved;
    bool others_known; /* the memory of other processes is known */
    uint64_t used_bytes, free_bytes, total_bytes;
    uint64_t reserved_bytes;     /* by driver and firmware: neither used nor free */
    struct ml_ledger_entry book; /* all entries; its bytes are the explained ones */
    int64_t unexplained_bytes;
    double unexplained_percent;
    uint64_t stray_bytes; /* of blocks outside all driver allocations: not in the book */
    bool balanced;        /* entries add up, and with the remainder give used */
    uint64_t ended_ns;    /* at a time: all its processes had ended by then; else 0 */
    uint64_t between_ns; /* at a time that may be inside a call: the nearest outside one; 0: none */
};

struct ml_ledger {
    struct ml_arena arena; /* all strings */
    const char *command;   /* NULL: not recorded */
    const char *host;
    uint64_t start_wall_ns;
    struct ml_at at;
    uint64_t run_ended_ns; /* if the requested time is later; else 0 */
    struct ml_health health;
    ML_VEC(struct ml_ledger_device) devices; /* by name */
    size_t bare_devices;                     /* omitted: they contain only the driver's context */
    size_t unlisted_devices; /* omitted: ML_LEDGER_DEVICES_MAX others have more in use */
};

/* Reads the trace once to find the instants, and once more for each device.
 * @ret    to be released, after a failure too
 * @return 0; -ENODEV if there is no such device, and `err` lists the existing ones; or another
 *         negative errno */
int ml_ledger(const struct ml_trace *trace, const struct ml_ledger_opts *opts,
              struct ml_ledger *ret, struct ml_error *err);
void ml_ledger_release(struct ml_ledger *ledger);

#endif
