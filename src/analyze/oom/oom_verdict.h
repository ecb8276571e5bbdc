/* oom_verdict.h: why an allocation was refused: the request, the free memory, whether memory was
 * short or fragmented, who used it, and what would have made room.
 *
 * The rule for an allocator that splits segments: after a fresh start, how many bytes of segments
 * would it need for the live blocks and the request? If no more than its capacity, the verdict is
 * *fragmentation*; if more, *shortage*. For PyTorch's CUDA allocator the need is computed with
 * its sizes (torch_packing.h), for others it is the sum of the bytes. The capacity is the memory
 * it has plus the driver's free memory. If the driver had enough, or its free memory is unknown,
 * the refusal gives the range: at least the memory it has, and less than that plus another
 * segment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_OOM_VERDICT_H
#define ML_ANALYZE_OOM_VERDICT_H

#include "block_types.h"
#include "breakdown.h"
#include "free_space.h"
#include "leaks.h"
#include "modules.h"
#include "refusals.h"

#define ML_OOM_SHOWN 3 /* refusals to report if none is selected: the last ones */

/* A sample that is older than this is shown, but no verdict rests on it: memory may have been
 * taken or freed since. The sampler writes each value more often, if it is not held up and was not
 * asked for a lower rate. */
#define ML_OOM_OLD_NS UINT64_C(1000000000)

enum ml_oom_verdict {
    ML_OOM_UNKNOWN,
    ML_OOM_SHORTAGE,
    ML_OOM_FRAGMENTATION,
    ML_OOM_LIMIT, /* enough was free: a limit forbids it */
};

/* The reason for the verdict. */
enum ml_oom_rule {
    ML_RULE_NO_FIGURES,    /* the free memory is unknown: unknown */
    ML_RULE_NO_SEGMENTS,   /* the places of blocks in the segments are unknown: unknown */
    ML_RULE_ADDRESSES,     /* more than a process can address: shortage */
    ML_RULE_TOTAL,         /* more than the device has: shortage */
    ML_RULE_FREE,          /* more than was free there: shortage */
    ML_RULE_FREE_ENOUGH,   /* as much was free: limit */
    ML_RULE_ADDRESS_LIMIT, /* more than RLIMIT_AS allows the process: limit */
    ML_RULE_GROUP_LIMIT,   /* more than its control group may have: limit */
    ML_RULE_FITS_AFRESH,   /* its capacity covers the need after a fresh start: fragmentation */
    ML_RULE_TOO_MUCH,      /* it does not: shortage */
    ML_RULE_BETWEEN,       /* the capacity is not known precisely enough: unknown */
};

enum ml_oom_change_kind {
    ML_CHANGE_LEAK,        /* free what grows from step to step, or until the refusal */
    ML_CHANGE_EXPANDABLE,  /* expandable segments */
    ML_CHANGE_SEGMENTS,    /* free the blocks in the emptiest segments */
    ML_CHANGE_RAISE_LIMIT, /* of the allocator, or of the process */
    ML_CHANGE_BATCH,       /* memory that grows with the batch */
    ML_CHANGE_GRADIENTS,   /* not needed in forward */
    ML_CHANGE_OPTIMIZER,   /* its state: move or reduce it */
    ML_CHANGE_RECOMPUTE,   /* recompute the activations of a module */
    ML_CHANGE_BFLOAT16,    /* parameters and activations in bfloat16 instead of float32 */
};

struct ml_oom_change {
    enum ml_oom_change_kind kind;
    uint64_t bytes;    /* made usable, or no longer used */
    uint64_t count;    /* of segments; for a leak: of groups that grow */
    uint64_t of_bytes; /* for the batch: memory that grows with it; for bfloat16: in float32 */
    double fraction;   /* and the share of it that must go */
    const char *name;  /* of the module, of what leaks or is in float32; "" for others */
    bool by_steps;     /* for a leak: it grows in each step; else the run has none */
    bool judged;       /* whether it is enough is known: */
    bool fits;
};

struct ml_oom {
    struct ml_refusal refusal;
    uint32_t pid, tid;
    const char *device, *space;
    bool host, torch; /* torch: PyTorch's CUDA allocator */
    /* The requester; "" if unknown. */
    const char *module, *class_name, *scope, *phase, *category, *line;

    struct ml_device_figures driver;   /* free: unknown if its sample is old */
    struct ml_seen sampled_free;       /* as last sampled, however long ago … */
    uint64_t free_age_ns;              /* … before the refusal */
    struct ml_seen group_limit;        /* of the control group, if the kernel killed for it */
    struct ml_address_space addresses; /* on the host, of the process that made the request; used:
                                        * unknown if its sample is old */
    uint64_t live_bytes, live_blocks;  /* on the device, of all recorded processes */
    bool has_segments;
    struct ml_free_place place; /* of the process that made the request */
    uint64_t need_bytes;        /* from the driver, for the request */
    uint64_t afresh_bytes; /* segments for the live blocks and the request after a fresh start */
    uint64_t expandable_bytes; /* the same with expandable segments, at best */

    enum ml_oom_verdict verdict;
    enum ml_oom_rule rule;
    bool limited; /* the driver had enough, but the allocator has a limit */
    uint64_t least_capacity, most_capacity; /* the range of its capacity, if has_segments */
    struct ml_seen short_bytes;             /* missing bytes, at most */
    struct ml_breakdown holders;            /* by module, category and line */
    /* Sufficient ones first, among them a leak, then smallest first. */
    ML_VEC(struct ml_oom_change) changes;
};

struct ml_oom_opts {
    uint64_t number;    /* of the refusal; 0: the last standing ones */
    const char *device; /* NULL: any */
    uint32_t pid;       /* 0: any */
    size_t top;         /* holders to list */
};

struct ml_oom_report {
    struct ml_snapshot at; /* the command; the strings of all verdicts */
    struct ml_refusals refusals;
    size_t left_out; /* standing refusals before the reported ones */
    ML_VEC(struct ml_oom) list;
    /* The strongest leaks of the last one's process on its device. Empty if the process has a model
     * but no step yet: it grows because it loads what it will use. */
    struct ml_leaks leaks;
};

/* Reads the trace once, and ten times for each reported refusal.
 * @ret    to be released, after a failure too
 * @return 0; -ENOENT without such a refusal, -ENODEV without such a device, and `err` lists the
 *         existing ones; or another negative errno */
int ml_oom_report(const struct ml_trace *trace, const struct ml_oom_opts *opts,
                  struct ml_oom_report *ret, struct ml_error *err);
void ml_oom_report_release(struct ml_oom_report *report);

/* "shortage", "fragmentation", "limit", "unknown"; and "too_much", "fits_afresh", … */
const char *ml_oom_verdict_name(enum ml_oom_verdict verdict);
const char *ml_oom_rule_name(enum ml_oom_rule rule);
const char *ml_oom_change_name(enum ml_oom_change_kind kind);

/* ---- The parts, for the verdict itself and its tests ---------------------- */

/* Computes the verdict from the figures of `oom` down to expandable_bytes. */
void ml_oom_judge(struct ml_oom *oom);

/* The strongest leak that is steady or likely and, in a run without steps, still grew shortly
 * before the refusal; or NULL. */
const struct ml_leak *ml_oom_leak(const struct ml_leaks *leaks);

/* How many are of that kind. */
size_t ml_oom_leak_count(const struct ml_leaks *leaks);

/* Finds the changes that would make room, from a frozen table, its map and its types. Memory that
 * leaks is none that a step needs.
 * @leaks  up to the refusal
 * @return 0 or -ENOMEM */
int ml_oom_changes(const struct ml_replay *replay, const struct ml_segment_map *map,
                   const struct ml_block_types *types, struct ml_modules *modules,
                   const struct ml_leaks *leaks, struct ml_oom *oom, struct ml_arena *arena);

#endif
