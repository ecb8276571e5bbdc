/* ranks.h: a whole job from the digests of its ranks: peaks, headroom, the ranks that differ from
 * their peers and why, those that leak, failed or are missing.
 *
 * Peers are ranks that should use the same memory: they have the same pipeline coordinate and the
 * same modules with parameters. A stage of a pipeline is never compared with another one. If no
 * set of modules is that of three quarters of the ranks, each set that two have is a group of
 * peers: a pipeline whose coordinates are unknown. A rank whose modules differ is compared with the
 * group that it resembles most, and reported, unless differences are the rule there. A rank that
 * shares less than half of its modules with any group is a stage of its own.
 *
 * A rank differs if its peak is further from the median of its peers than six standard deviations,
 * estimated by the median absolute deviation, and further than a floor of 3 % and 1 MiB. Medians of
 * an even number of ranks are the lower one, since most faults take more memory, not less.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_RANKS_H
#define ML_ANALYZE_RANKS_H

#include "digest.h"
#include "replay.h"

struct ml_rank_source {
    const struct ml_digest *digest;
    const char *file;  /* the trace, as a user would open it */
    bool is_elsewhere; /* only its digest is here */
};

struct ml_rank_row {
    uint32_t rank;
    const struct ml_rank_source *source;
    const struct ml_digest_rank *of;
    const char *host, *device; /* "" if unknown */
    uint64_t peak_bytes;
    uint64_t error_bytes; /* standard error of the peak if the heap was sampled; else 0 */
    int64_t above_bytes;  /* the median of its peers */
    size_t group;
    bool has_limit;
    uint64_t limit_bytes;   /* of the device, or of the control group */
    int64_t headroom_bytes; /* what is left of it at the peak of the rank's trace */
    uint64_t growth_bytes;  /* per step; 0: it does not grow */
};

struct ml_rank_group {
    const char *name; /* "pp=1", "" if it is the only one */
    size_t count;
    uint64_t median_bytes, least_bytes, most_bytes;
    uint64_t deviation_bytes; /* a standard deviation, estimated */
    uint64_t allowed_bytes;   /* a rank that is further from the median differs */
    size_t first_of_modules;  /* a row with the modules of the group */
    bool mixed;               /* less than three quarters have these modules */
};

enum ml_rank_kind {
    ML_RANK_OOM,     /* an allocation was refused, or the kernel killed it at its limit */
    ML_RANK_KILLED,  /* ended by a signal */
    ML_RANK_FAILED,  /* another exit code than 0 */
    ML_RANK_STOPPED, /* by SIGTERM, after another rank had failed */
    ML_RANK_UNENDED, /* its trace has no end */
    ML_RANK_MISSING,
    ML_RANK_LEAKS,
    ML_RANK_ABOVE,
    ML_RANK_BELOW,
    ML_RANK_MODULES, /* has modules that its peers lack, or the other way round */
    ML_RANK_LOST,    /* events are missing from its trace */
    ML_RANK_KINDS,
};

enum ml_rank_cause {
    ML_CAUSE_UNKNOWN,
    ML_CAUSE_LONGER,      /* activations in all modules alike: batch or sequence */
    ML_CAUSE_INPUT_THERE, /* activations in one module only */
    ML_CAUSE_UNSHARDED,   /* state that its peers divide among themselves */
    ML_CAUSE_EXTRA_MODULE,
    ML_CAUSE_LACKS_MODULE,
    ML_CAUSE_GATHERED,
    ML_CAUSE_EVERYWHERE, /* all ranks of the group */
};

struct ml_rank_finding {
    enum ml_rank_kind kind;
    enum ml_rank_cause cause;
    ML_VEC(uint32_t) ranks; /* ascending */
    uint32_t worst;         /* of them */
    size_t worst_row;       /* SIZE_MAX: it has none, it is missing */
    int64_t bytes;          /* of the worst: above its peers; per step, for a leak */
    bool has_category;
    uint32_t category;  /* with the next ones: most of the bytes */
    int64_t part_bytes; /* of the category */
    const char *module; /* "": none, or several have parts of them */
    bool in_several;    /* modules */
    double ratio;       /* to its peers; 0: they have none */
    double input_ratio; /* of its inputs to those of its peers; 0: not known */
    uint64_t steps_above, steps_compared;
    const char *shared; /* "host node7" or "dp=4": exactly these ranks have it; "": none */
    uint32_t signal, exit_code;
    uint64_t wall_ns; /* when it ended */
};

struct ml_rank_entry {
    const char *name;
    int64_t bytes;
};

/* The clock of a host, from the times at which the ranks began the same steps. */
struct ml_rank_clock {
    const char *host;
    int64_t ahead_ns;  /* of the median of all hosts */
    uint64_t error_ns; /* as the kernel estimates it; 0: unknown, or not synchronised */
};

struct ml_ranks {
    struct ml_arena arena;
    const char *job, *command; /* NULL: not known */
    uint64_t world_size;       /* 0: not known */
    size_t other_jobs;         /* whose files are left out */
    size_t repeated;           /* older traces of ranks that have a later one */
    bool numbered;             /* the traces have no ranks: numbered in order */
    uint64_t start_wall_ns, steps;
    ML_VEC(struct ml_rank_row) rows; /* by rank */
    ML_VEC(struct ml_rank_group) groups;
    ML_VEC(struct ml_rank_finding) findings; /* the gravest first */
    size_t hosts;
    uint64_t peak_sum_bytes, peak_mean_bytes, peak_most_bytes, peak_least_bytes;
    size_t most_row, least_row;
    double imbalance_percent;               /* the highest peak above the mean */
    size_t nearest_row;                     /* nearest to its limit; SIZE_MAX: no limit is known */
    uint64_t category_bytes[ML_CATEGORIES]; /* of all ranks, each at its own peak */
    bool has_ledger;
    uint64_t used_bytes, total_bytes; /* of all GPUs whose driver was sampled */
    int64_t unexplained_bytes;
    ML_VEC(struct ml_rank_entry) ledger; /* the sum of the entries of one name */
    ML_VEC(struct ml_rank_clock) clocks; /* only with several hosts */
    uint64_t steps_per_column;
    size_t columns; /* of the map of ranks and steps */
};

/* @sources  must outlive the result
 * @job      only this one; NULL: the latest
 * @ret      to be released, after a failure too
 * @return 0, -ENODATA if no source has a rank of that job, or -ENOMEM */
int ml_ranks(const struct ml_rank_source *sources, size_t count, const char *job,
             struct ml_ranks *ret, struct ml_error *err);
void ml_ranks_release(struct ml_ranks *ranks);

/* The highest peak of a rank in a column of the map; 0: it has none there. */
uint64_t ml_ranks_cell(const struct ml_ranks *ranks, size_t row, size_t column);

#endif
