/* summary.h: a trace on one page: totals, the peak, its composition, and memory never freed.
 *
 * "Counted" spaces are those that replay.h adds up. Allocations, frees, peak and live bytes here
 * are theirs, so that they describe the same blocks. Figures by level are separate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_SUMMARY_H
#define ML_ANALYZE_SUMMARY_H

#include "arena.h"
#include "cache_growth.h"
#include "health.h"
#include "samples.h"
#include "steps.h"
#include "trace.h"
#include "vec.h"

struct ml_summary_opts {
    size_t top;                       /* scopes and labels to list */
    const struct ml_level_caps *caps; /* which devices and processes count; NULL: all */
    uint32_t steps_pid;               /* whose steps; 0: the first process that marks some */
};

/* The figures of a space, a level, a device, a process or the whole run. */
struct ml_figures {
    uint64_t allocations;
    uint64_t allocated_bytes; /* the sum over all allocations */
    uint64_t frees;
    uint64_t live_bytes; /* at the end, or when their process ended */
    uint64_t live_blocks;
    uint64_t left_bytes; /* never freed: of the live ones, without the driver's own */
    uint64_t left_blocks;
    uint64_t peak_bytes;
    uint64_t peak_time_ns;
    uint32_t allocation_parts, free_parts, live_parts, left_parts; /* see ml_sample_add */
};

struct ml_summary_device {
    const char *name;
    struct ml_figures counted;
    struct ml_figures levels[ML_LEVELS];
    bool has_level[ML_LEVELS];
    uint64_t at_peak_bytes;       /* counted, when the sum of all devices was at its peak */
    uint64_t named_bytes_at_peak; /* of them; see ml_summary. 0 without modules */
    double named_percent_at_peak;
};

struct ml_summary_category {
    uint8_t category;
    const char *name;
    uint64_t at_peak_bytes, at_peak_blocks; /* at the peak of the whole run */
    double at_peak_percent;                 /* of the peak */
    uint64_t peak_bytes, peak_time_ns;      /* its own */
    uint64_t live_bytes, left_bytes;        /* as in ml_figures */
    uint64_t allocations, frees;
};

/* A scope, or a label within its scope and category. */
struct ml_summary_entry {
    const char *scope;                       /* path, "" for none */
    const char *label;                       /* NULL in the list of scopes */
    const char *module, *class_name, *phase; /* of the scope, see scope_path.h; NULL: none */
    const char *category;
    uint64_t at_peak_bytes, at_peak_blocks;
    double at_peak_percent;
    uint64_t live_bytes, left_bytes; /* as in ml_figures */
};

struct ml_summary_entries {
    ML_VEC(struct ml_summary_entry) list; /* most at the peak first, at most `top` */
    size_t total;                         /* their number at the peak */
};

/* How a program's image in a process came to its end. */
enum ml_ending {
    ML_ENDING_NOT_TOLD, /* by an imported file */
    ML_ENDING_RUNNING,  /* not, while it was recorded */
    ML_ENDING_EXIT,
    ML_ENDING_SIGNAL,
    ML_ENDING_EXEC, /* another image took its place in the process */
    ML_ENDING_UNKNOWN,
};

/* The word for it in reports and JSON; "": ML_ENDING_NOT_TOLD. */
const char *ml_ending_name(enum ml_ending ending);

/* A program in a process: one that calls exec() is two of them. */
struct ml_summary_process {
    uint32_t number; /* in the trace */
    uint32_t pid;
    const char *command;
    const char *role;  /* NULL: none */
    uint32_t rank;     /* 1 + its number in a job; 0: none */
    const char *place; /* in that job: "rank=3 world_size=8"; NULL: none */
    const char *how;
    uint32_t threads; /* that recorded something; its main thread if none did */
    struct ml_figures counted;
    uint64_t start_ns, end_ns;
    enum ml_ending ending;
    int exit_code; /* with ML_ENDING_EXIT */
    int signal;    /* with ML_ENDING_SIGNAL */
};

struct ml_summary {
    struct ml_arena arena; /* all strings */
    const char *command;   /* of the run */
    const char *host;      /* NULL: not recorded */
    uint64_t start_wall_ns, duration_ns;
    uint64_t events, file_bytes;
    uint32_t threads; /* of all processes */
    uint64_t ooms;
    struct ml_health health;
    struct ml_figures counted;                /* of all devices; the peak is that of their sum */
    ML_VEC(struct ml_summary_device) devices; /* largest peak first */
    ML_VEC(struct ml_summary_category) categories; /* those with memory; most at the peak first */
    struct ml_summary_entries scopes, labels;
    bool has_modules;                  /* else the fields up to steps are 0 */
    uint64_t named_bytes_at_peak;      /* labelled, or in a scope of a module or an optimizer */
    double named_percent_at_peak;      /* of all counted bytes at the peak */
    uint64_t backward_allocated_bytes; /* over the whole run; 0 for a device or process of it */
    uint64_t backward_named_bytes;
    double backward_named_percent;
    struct ml_cache_growth caches; /* no layers: there are no keys and values */
    struct ml_steps steps;
    ML_VEC(struct ml_summary_process) processes; /* largest peak first */
    uint32_t process_count;                      /* each once, however often it called exec() */
    struct ml_samples samples;                   /* no events: there were no samples */
};

/* Reads the trace twice: to find the peak, and to find its composition. If there are modules or
 * phases, an earlier pass finds the categories; else the second pass goes on to the last label,
 * because blocks are labelled after their allocation.
 * @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_summarize(const struct ml_trace *trace, const struct ml_summary_opts *opts,
                 struct ml_summary *ret, struct ml_error *err);
void ml_summary_release(struct ml_summary *summary);

/* How many devices had any memory. Where there are several, sums over devices mean little: no one
 * has a memory of the size of host and GPU together. */
size_t ml_summary_used_devices(const struct ml_summary *summary);

#endif
