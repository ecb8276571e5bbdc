/* run_digest.c: see run_digest.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run_digest.h"

#include "digest_maker.h"
#include "digest_store.h"
#include "memory_limit.h"
#include "process_ranks.h"
#include "say.h"

#define EVENT_NS 1000                   /* that a digest takes, an event */
#define ENOUGH_NS UINT64_C(20000000000) /* always granted */
#define RUN_SHARE 10                    /* of the run's time, one part in so many */

const char *const ml_digest_choices[] = {"auto", "always", "never", NULL};

static bool is_wanted(const struct ml_trace *trace, enum ml_digest_use use)
{
    const struct ml_trace_info *info = ml_trace_info(trace);

    if (use == ML_DIGEST_ALWAYS)
        return true;
    return ml_trace_has_ranks(trace) &&
           info->events * EVENT_NS <= ml_max_u64(ENOUGH_NS, info->end_ns / RUN_SHARE);
}

static int make_digest(const struct ml_trace *trace, const char *path, struct ml_error *err)
{
    struct ml_digest digest = {0};
    struct ml_buf name = {0};
    int r = ml_digest_make(trace, &digest, err);

    if (r == 0)
        r = ml_buf_printf(&name, "%s" ML_DIGEST_SUFFIX, path);
    if (r == 0)
        r = ml_digest_store_write(&digest, (const char *)name.data, true, err);
    ml_buf_release(&name);
    ml_digest_release(&digest);
    return r;
}

struct making {
    const char *trace;
    enum ml_digest_use use;
    bool quiet;
};

static void make(void *arg)
{
    const struct making *m = arg;
    struct ml_trace *trace = NULL;
    struct ml_error err = {0};

    ml_memory_limit(m->trace, 0);
    if (ml_trace_open(m->trace, &(struct ml_trace_opts){0}, &trace, &err) < 0)
        return;
    if (is_wanted(trace, m->use) && make_digest(trace, m->trace, &err) < 0 && !m->quiet)
        ml_say("no digest: %s", err.text);
    ml_trace_free(trace);
}

void ml_run_add_digest(struct ml_launch *l, const char *trace, enum ml_digest_use use, bool quiet)
{
    struct making making = {trace, use, quiet};

    if (use != ML_DIGEST_NEVER && l->stops == 0)
        ml_launch_aside(l, make, &making);
}
