/* oom_verdict.h: why an allocation was refused: what was asked for, what was free, whether
 * memory was short or only in pieces, who had it, and what would have made room.
 *
 * The rule for an allocator that cuts segments up: had it been started afresh, with the
 * blocks that are live and the request, how many bytes of segments would it need? If no
 * more than it may have, it is *fragmentation*; if more, a *shortage*. For PyTorch's CUDA
 * allocator that is worked out with its sizes (torch_packing.h); for others it is the sum
 * of the bytes. How many it may have is what it has and what the driver has free. Where
 * the driver had enough, or is not known to, the refusal itself tells: at least what it
 * has, and less than that with another segment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_OOM_VERDICT_H
#define ML_ANALYZE_OOM_VERDICT_H

#include "breakdown.h"
#include "free_space.h"
#include "modules.h"
#include "refusals.h"

#define ML_OOM_SHOWN 3 /* refusals that are told where none is chosen: the last ones */

enum ml_oom_verdict {
    ML_OOM_UNKNOWN,
    ML_OOM_SHORTAGE,
    ML_OOM_FRAGMENTATION,
    ML_OOM_LIMIT, /* enough was free: something else forbids it */
};

/* What the verdict rests on. */
enum ml_oom_rule {
    ML_RULE_NO_FIGURES,  /* nothing is known of what was free: unknown */
    ML_RULE_NO_SEGMENTS, /* where blocks lie in the allocator's segments is not: unknown */
    ML_RULE_ADDRESSES,   /* more than a process can address: shortage */
    ML_RULE_TOTAL,       /* more than the device has: shortage */
    ML_RULE_FREE,        /* more than was free there: shortage */
    ML_RULE_FREE_ENOUGH, /* as much was free: a limit */
    ML_RULE_FITS_AFRESH, /* it may have as much as it needs afresh: fragmentation */
    ML_RULE_TOO_MUCH,    /* it may not: shortage */
    ML_RULE_BETWEEN,     /* what it may have is not known so closely: unknown */
};

enum ml_oom_change_kind {
    ML_CHANGE_EXPANDABLE,  /* expandable segments */
    ML_CHANGE_SEGMENTS,    /* free what lies in the emptiest segments */
    ML_CHANGE_RAISE_LIMIT, /* of the allocator, or of the process */
    ML_CHANGE_BATCH,       /* what grows with the batch */
    ML_CHANGE_GRADIENTS,   /* that are not needed in forward */
    ML_CHANGE_OPTIMIZER,   /* its state: elsewhere, or less of it */
    ML_CHANGE_RECOMPUTE,   /* the activations of a module */
};

struct ml_oom_change {
    enum ml_oom_change_kind kind;
    uint64_t bytes;    /* that it makes usable, or less used */
    uint64_t count;    /* of segments */
    uint64_t of_bytes; /* of the batch: what grows with it */
    double fraction;   /* and how much of it has to go */
    const char *name;  /* of the module; "" for others */
    bool judged;       /* whether it is enough can be told: */
    bool fits;
};

struct ml_oom {
    struct ml_refusal refusal;
    uint32_t pid, tid;
    const char *device, *space;
    bool host, torch; /* torch: PyTorch's CUDA allocator */
    /* Who asked; "" where it is not known. */
    const char *module, *class_name, *scope, *phase, *category, *line;

    struct ml_device_figures driver;
    uint64_t live_bytes, live_blocks; /* on the device, of all recorded processes */
    bool has_segments;
    struct ml_free_place place; /* of the process that asked */
    uint64_t need_bytes;        /* what the driver has to give for it */
    uint64_t afresh_bytes;      /* segments for what is live and the request */
    uint64_t expandable_bytes;  /* the same with expandable segments, at best */

    enum ml_oom_verdict verdict;
    enum ml_oom_rule rule;
    bool limited;                           /* the driver had enough: the allocator may not */
    uint64_t least_capacity, most_capacity; /* what it may have, where has_segments */
    struct ml_seen short_bytes;             /* what was missing, at most */
    struct ml_breakdown holders;            /* by module, category and line */
    ML_VEC(struct ml_oom_change) changes;   /* those that are enough first, the smallest first */
};

struct ml_oom_opts {
    uint64_t number;    /* of the refusal; 0: the last ones that stand */
    const char *device; /* NULL: any */
    size_t top;         /* holders to list */
};

struct ml_oom_report {
    struct ml_snapshot at; /* what was run; the strings of all verdicts */
    struct ml_refusals refusals;
    size_t left_out; /* standing refusals before the ones told */
    ML_VEC(struct ml_oom) list;
};

/* Reads the trace once, and five times for each refusal that is told.
 * @ret    to be released, after a failure too
 * @return 0; -ENOENT without such a refusal, -ENODEV without such a device, and `err` says
 *         what there is; or another negative errno */
int ml_oom_report(const struct ml_trace *trace, const struct ml_oom_opts *opts,
                  struct ml_oom_report *ret, struct ml_error *err);
void ml_oom_report_release(struct ml_oom_report *report);

/* "shortage", "fragmentation", "limit", "unknown"; and "too_much", "fits_afresh", … */
const char *ml_oom_verdict_name(enum ml_oom_verdict verdict);
const char *ml_oom_rule_name(enum ml_oom_rule rule);
const char *ml_oom_change_name(enum ml_oom_change_kind kind);

/* ---- The parts, for the verdict itself and its tests ---------------------- */

/* From the figures of `oom` down to expandable_bytes to its verdict. */
void ml_oom_judge(struct ml_oom *oom);

/* What would make room, from a frozen table and its map. @return 0 or -ENOMEM */
int ml_oom_changes(const struct ml_replay *replay, const struct ml_segment_map *map,
                   struct ml_modules *modules, struct ml_oom *oom, struct ml_arena *arena);

#endif
