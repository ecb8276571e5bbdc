/* html_questions.h: the questions whose answers an exported page contains, most important first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_HTML_QUESTIONS_H
#define ML_EXPORT_HTML_QUESTIONS_H

#include "arena.h"
#include "trace.h"
#include "vec.h"

#define ML_HTML_OPTIONS 5

struct ml_html_option {
    const char *name, *value;
};

/* A command as the page asks for it: "tree", {"at", "peak"}, {"min", "0"}. */
struct ml_html_question {
    const char *verb;
    struct ml_html_option options[ML_HTML_OPTIONS]; /* up to the first without a name */
};

/* A moment whose tree, table and ledger are among the questions. */
struct ml_html_instant {
    const char *at; /* as for --at */
    uint64_t time_ns;
};

struct ml_html_questions {
    struct ml_arena arena;
    ML_VEC(struct ml_html_question) list;
    ML_VEC(struct ml_html_instant) instants;
    size_t steps, steps_taken; /* of the run, and those among the instants */
    size_t ooms, ooms_taken;   /* refusals that stand */
};

/* Reads the trace a few times.
 * @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_html_questions_read(const struct ml_trace *trace, struct ml_html_questions *ret,
                           struct ml_error *err);
void ml_html_questions_release(struct ml_html_questions *questions);

#endif
