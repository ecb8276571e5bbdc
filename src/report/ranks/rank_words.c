/* rank_words.c: the findings of a job in words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "memledger/memledger.h"
#include "ranks_report.h"

#define RANGES_NAMED 8

static const char *const plurals[ML_CATEGORIES] = {
    [MEMLEDGER_OTHER] = "other memory",
    [MEMLEDGER_PARAMETER] = "parameters",
    [MEMLEDGER_BUFFER] = "buffers",
    [MEMLEDGER_GRADIENT] = "gradients",
    [MEMLEDGER_OPTIMIZER_STATE] = "optimizer state",
    [MEMLEDGER_ACTIVATION] = "activations",
    [MEMLEDGER_INTERMEDIATE_GRADIENT] = "intermediate gradients",
    [MEMLEDGER_INPUT] = "inputs",
    [MEMLEDGER_TEMPORARY] = "temporary memory",
    [MEMLEDGER_WORKSPACE] = "workspaces",
    [MEMLEDGER_KV_CACHE] = "keys and values",
    [MEMLEDGER_GATHERED] = "gathered weights",
    [MEMLEDGER_COMMUNICATION] = "communication buffers",
};

/* A sentence that is being made; the first failure is kept. */
struct words {
    struct ml_buf *out;
    const struct ml_style *style;
    int r;
};

static void say(struct words *w, const char *fmt, ...) ML_PRINTF(2, 3);
static void say(struct words *w, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    if (w->r == 0)
        w->r = ml_buf_vprintf(w->out, fmt, args);
    va_end(args);
}

static void say_bytes(struct words *w, int64_t bytes, bool sign)
{
    char text[32];

    say(w, "%s%s", sign && bytes > 0 ? "+" : "", ml_format_bytes(text, bytes, w->style->unit));
}

/* "rank 3", "ranks 32-39, 48". */
static void say_ranks(struct words *w, const struct ml_rank_finding *f)
{
    size_t ranges = 0;

    say(w, f->ranks.len == 1 ? "rank" : "ranks");
    for (size_t i = 0, next; i < f->ranks.len; i = next) {
        for (next = i + 1;
             next < f->ranks.len && f->ranks.items[next] == f->ranks.items[next - 1] + 1; next++)
            ;
        if (++ranges > RANGES_NAMED) {
            say(w, " and %zu more", f->ranks.len - i);
            break;
        }
        say(w, "%s%" PRIu32, ranges > 1 ? ", " : " ", f->ranks.items[i]);
        if (next - i > 1)
            say(w, "-%" PRIu32, f->ranks.items[next - 1]);
    }
    if (*f->shared)
        say(w, " (all %s)", f->shared);
}

static const char *its(const struct ml_rank_finding *f)
{
    return f->ranks.len == 1 ? "its" : "their";
}

static void say_where(struct words *w, const struct ml_rank_finding *f)
{
    if (*f->module)
        say(w, " in %s", f->module);
    else
        say(w, f->in_several ? " in several modules" : " outside of modules");
}

static void say_cause(struct words *w, const struct ml_rank_finding *f)
{
    const char *more = f->bytes > 0 ? "longer" : "shorter";

    switch (f->cause) {
    case ML_CAUSE_LONGER: say(w, ": %s micro-batch or sequence is %s", its(f), more); break;
    case ML_CAUSE_INPUT_THERE:
        say(w, ": in %s only, other modules are like those of %s peers",
            *f->module ? "that module" : "a few modules", its(f));
        break;
    case ML_CAUSE_UNSHARDED:
        say(w, f->bytes > 0 ? ": not sharded as on %s peers" : ": sharded, unlike on %s peers",
            its(f));
        break;
    case ML_CAUSE_GATHERED: say(w, ": gathered weights were not freed"); break;
    case ML_CAUSE_UNKNOWN:
    case ML_CAUSE_EXTRA_MODULE:
    case ML_CAUSE_LACKS_MODULE:
    case ML_CAUSE_EVERYWHERE: break;
    }
}

static void say_ratios(struct words *w, const struct ml_rank_finding *f)
{
    if (f->ratio > 0)
        say(w, " (%.1f times the %s of %s peers", f->ratio, plurals[f->category], its(f));
    else
        say(w, " (%s peers have no %s", its(f), plurals[f->category]);
    if (f->category != MEMLEDGER_INPUT && f->input_ratio > 0 &&
        (f->input_ratio > 1.1 || f->input_ratio < 0.9))
        say(w, ", %.1f times the inputs", f->input_ratio);
    if (f->steps_compared > 1 && f->steps_above > 0 && f->steps_above < f->steps_compared)
        say(w, ", in %" PRIu64 " of %" PRIu64 " steps", f->steps_above, f->steps_compared);
    say(w, ")");
}

/* How much of the bytes the category has; nothing if it has all of them. */
static void say_part(struct words *w, const struct ml_rank_finding *f)
{
    char all[32], part[32];

    ml_format_bytes(all, f->bytes, w->style->unit);
    ml_format_bytes(part, f->part_bytes, w->style->unit);
    if (f->ranks.len == 1 && strcmp(all, part) == 0)
        return;
    say(w, ", of this ");
    say_bytes(w, f->part_bytes, true);
}

static void say_distance(struct words *w, const struct ml_rank_finding *f)
{
    say(w, ": ");
    say_bytes(w, f->bytes, true);
    if (f->ranks.len > 1)
        say(w, " on rank %" PRIu32, f->worst);
    if (f->has_category) {
        say_part(w, f);
        say(w, " %s", plurals[f->category]);
        say_where(w, f);
        say_cause(w, f);
        say_ratios(w, f);
    }
}

static void say_leak(struct words *w, const struct ml_rank_finding *f)
{
    say(w, f->ranks.len == 1 ? " grows by " : " grow by ");
    say_bytes(w, f->bytes, false);
    say(w, " a step");
    if (f->has_category) {
        say(w, ", mostly %s", plurals[f->category]);
        say_where(w, f);
    }
    if (f->cause == ML_CAUSE_EVERYWHERE)
        say(w, ": most ranks leak");
    else
        say(w, "; %s peers do not grow", its(f));
}

static void say_modules(struct words *w, const struct ml_rank_finding *f)
{
    bool lacks = f->cause == ML_CAUSE_LACKS_MODULE;

    if (f->ranks.len == 1)
        say(w, " %s", lacks ? "lacks" : "has");
    else
        say(w, " %s", lacks ? "lack" : "have");
    say(w, " %s, which %s peers %s", f->module, its(f), lacks ? "have" : "lack");
    say(w, " (");
    say_bytes(w, f->bytes, true);
    say(w, ")");
}

static void say_end(struct words *w, const struct ml_rank_finding *f)
{
    switch (f->kind) {
    case ML_RANK_OOM: say(w, " ran out of memory"); break;
    case ML_RANK_KILLED: say(w, f->ranks.len == 1 ? " was" : " were"); break;
    case ML_RANK_STOPPED:
        say(w, f->ranks.len == 1 ? " was stopped" : " were stopped");
        say(w, " by SIGTERM, as launchers do after another rank failed");
        return;
    case ML_RANK_UNENDED:
        say(w, ": the trace has no end; memledger was killed too, or is still recording");
        return;
    default: break;
    }
    if (f->kind == ML_RANK_FAILED)
        say(w, " ended with exit code %" PRIu32, f->exit_code);
    else if (f->signal)
        say(w, "%s killed by signal %" PRIu32 " (%s)", f->kind == ML_RANK_OOM ? ", was" : "",
            f->signal, strsignal((int)f->signal));
    if (f->ranks.len > 1)
        say(w, ", first rank %" PRIu32, f->worst);
}

int ml_rank_finding_words(const struct ml_rank_finding *finding, const struct ml_style *style,
                          struct ml_buf *out)
{
    struct words w = {.out = out, .style = style};

    say_ranks(&w, finding);
    switch (finding->kind) {
    case ML_RANK_MISSING:
        say(&w, finding->ranks.len == 1 ? " is missing: no trace" : " are missing: no traces");
        say(&w, " of %s", finding->ranks.len == 1 ? "it" : "them");
        break;
    case ML_RANK_LEAKS: say_leak(&w, finding); break;
    case ML_RANK_ABOVE:
    case ML_RANK_BELOW: say_distance(&w, finding); break;
    case ML_RANK_MODULES: say_modules(&w, finding); break;
    case ML_RANK_LOST:
        say(&w, " lost events (%" PRId64 " at most): figures are too low or too high",
            finding->bytes);
        break;
    default: say_end(&w, finding); break;
    }
    return w.r;
}
