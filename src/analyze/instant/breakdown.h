/* breakdown.h: live memory at an instant, grouped by what the blocks have in common: their
 * module, category, label, scope, thread, …
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_BREAKDOWN_H
#define ML_ANALYZE_BREAKDOWN_H

#include "snapshot.h"
#include "stack_view.h"
#include "vec.h"

enum ml_key {
    ML_KEY_MODULE,
    ML_KEY_CATEGORY,
    ML_KEY_LABEL,
    ML_KEY_SCOPE,
    ML_KEY_CLASS,
    ML_KEY_PHASE,
    ML_KEY_THREAD,
    ML_KEY_STACK,
    ML_KEY_FUNCTION, /* of the frame that made the request, as the next two */
    ML_KEY_FILE,
    ML_KEY_LIBRARY,
    ML_KEY_LINE, /* of the program's own Python code */
    ML_KEY_DEVICE,
    ML_KEY_SPACE,
    ML_KEY_PROCESS,
    ML_KEYS,
};

#define ML_KEY_WORDS                                                                               \
    "module, category, label, scope, class, phase, thread, stack, function, file, library, line, " \
    "device, space or process"

/* "module". */
const char *ml_key_name(enum ml_key key);

struct ml_breakdown_opts {
    struct ml_snapshot_opts snapshot;
    enum ml_key by[ML_KEYS];
    size_t by_count;
    size_t top; /* groups to list; the others are one row */
};

/* Parses "module,category" into by and by_count, each key at most once.
 * @text   NULL: these two
 * @return 0, or -EINVAL and `err` lists the keys */
int ml_breakdown_parse(const char *text, struct ml_breakdown_opts *ret, struct ml_error *err);

/* Adds the category after the label, unless it is a key already: a parameter and its gradient have
 * the same label. */
void ml_breakdown_split_labels(struct ml_breakdown_opts *opts);

struct ml_breakdown_group {
    uint64_t bytes, blocks;
    double percent;             /* of all live bytes */
    const char *names[ML_KEYS]; /* by position in `by`; "" for none */
    uint32_t stack;             /* for ML_KEY_STACK */
};

struct ml_breakdown {
    struct ml_snapshot at;
    enum ml_key by[ML_KEYS];
    size_t by_count;
    ML_VEC(struct ml_breakdown_group) groups; /* most bytes first, at most `top` */
    struct ml_breakdown_group rest;           /* the others together, without names */
    size_t rest_count;
    bool no_lines;               /* grouped by line, and no block has one */
    enum ml_stackless stackless; /* why, if so */
};

/* @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_breakdown(const struct ml_trace *trace, const struct ml_breakdown_opts *opts,
                 struct ml_breakdown *ret, struct ml_error *err);

/* The same for a table that is already frozen.
 * @ret    its `at` filled in by ml_snapshot, the rest zero
 * @return 0 or -ENOMEM */
int ml_breakdown_of(const struct ml_replay *replay, const struct ml_breakdown_opts *opts,
                    struct ml_breakdown *ret);
void ml_breakdown_release(struct ml_breakdown *breakdown);

#endif
