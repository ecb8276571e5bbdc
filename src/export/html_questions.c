/* html_questions.c: see html_questions.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "html_questions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "instant.h"
#include "refusals.h"
#include "summary.h"

#define STEPS_MAX 16
#define OOMS_MAX 8
#define DEVICES_MAX 8
#define COLUMNS "4000" /* of a timeline: as many as a 4K screen has pixels */
#define GROUPS "1000"  /* of a table, as the page asks for */
#define DEFAULT_KEYS "module,category"
#define BLOCKS "10000"       /* of a picture */
#define BLOCK_COLUMNS "2000" /* for those that are merged */
#define SEGMENTS "1000"
#define CALLS_LEAST "0.05" /* percent: no pixel wide */

struct maker {
    const struct ml_trace *trace;
    struct ml_html_questions *q;
    struct ml_summary summary;
    struct ml_refusals refusals;
};

/* ---- Questions ------------------------------------------------------------- */

static int ask(struct maker *m, const struct ml_html_question *question)
{
    return ml_vec_push(&m->q->list, *question);
}

static int ask_simple(struct maker *m, const char *verb)
{
    return ask(m, &(struct ml_html_question){.verb = verb});
}

static int ask_tree(struct maker *m, const char *at)
{
    return ask(m, &(struct ml_html_question){"tree", {{"at", at}, {"min", "0"}}});
}

static int ask_table(struct maker *m, const char *at, const char *keys)
{
    return ask(m, &(struct ml_html_question){"table", {{"at", at}, {"by", keys}, {"top", GROUPS}}});
}

static int ask_ledger(struct maker *m, const char *at)
{
    return ask(m, &(struct ml_html_question){"ledger", {{"at", at}}});
}

/* "step:", 3, "": an option's value. NULL: no memory. */
static const char *printed(struct maker *m, const char *before, uint64_t number, const char *after)
{
    char text[64];
    int len = snprintf(text, sizeof(text), "%s%" PRIu64 "%s", before, number, after);

    return ml_arena_dup(&m->q->arena, text, (size_t)len);
}

static int ask_instant(struct maker *m, const char *at, uint64_t time_ns)
{
    int r = at ? ml_vec_push(&m->q->instants, (struct ml_html_instant){at, time_ns}) : -ENOMEM;

    if (r == 0)
        r = ask_tree(m, at);
    if (r == 0)
        r = ask_table(m, at, DEFAULT_KEYS);
    return r == 0 ? ask_ledger(m, at) : r;
}

/* ---- The whole run --------------------------------------------------------- */

static int ask_timeline(struct maker *m, const char *keys)
{
    return ask(m, &(struct ml_html_question){"plot", {{"by", keys}, {"width", COLUMNS}}});
}

struct part {
    const char *from, *to; /* for --from and --to */
};

/* The part that the page shows first, if it is much less than the run. @return 1: there is one */
static int steps_part(struct maker *m, struct part *ret)
{
    const struct ml_steps *steps = &m->summary.steps;
    uint64_t from_ns, to_ns, margin_ns, end_ns = ml_trace_info(m->trace)->end_ns;

    if (steps->list.len == 0)
        return 0;
    from_ns = steps->list.items[0].begin_ns;
    to_ns = steps->list.items[steps->list.len - 1].end_ns;
    if (to_ns <= from_ns || to_ns - from_ns > end_ns / 2)
        return 0;
    margin_ns = (to_ns - from_ns) / 40;
    ret->from = printed(m, "", from_ns - (from_ns < margin_ns ? from_ns : margin_ns), "ns");
    ret->to = printed(m, "", to_ns + margin_ns < end_ns ? to_ns + margin_ns : end_ns, "ns");
    return ret->from && ret->to ? 1 : -ENOMEM;
}

static int ask_steps_timeline(struct maker *m, const char *keys)
{
    struct part part;
    int r = steps_part(m, &part);

    if (r <= 0)
        return r;
    return ask(
        m, &(struct ml_html_question){
               "plot", {{"by", keys}, {"from", part.from}, {"to", part.to}, {"width", COLUMNS}}});
}

/* The largest blocks of the whole run, and of the part that the page shows first. */
static int ask_blocks(struct maker *m)
{
    struct part part;
    int r =
        ask(m, &(struct ml_html_question){"blocks", {{"top", BLOCKS}, {"width", BLOCK_COLUMNS}}});
    int has_part = r == 0 ? steps_part(m, &part) : r;

    if (has_part <= 0)
        return has_part;
    return ask(
        m, &(struct ml_html_question){
               "blocks",
               {{"from", part.from}, {"to", part.to}, {"top", BLOCKS}, {"width", BLOCK_COLUMNS}}});
}

/* A flame graph of calls and its functions. @at  NULL: of the whole run */
static int ask_calls(struct maker *m, const char *of, const char *at)
{
    struct ml_html_question calls = {"tree", {{"of", of}, {"min", CALLS_LEAST}, {"by", "callees"}}};
    struct ml_html_question functions = {"table",
                                         {{"of", of}, {"by", "function,file"}, {"top", GROUPS}}};
    int r;

    if (at) {
        calls.options[3] = (struct ml_html_option){"at", at};
        functions.options[3] = (struct ml_html_option){"at", at};
    }
    r = ask(m, &calls);
    return r == 0 ? ask(m, &functions) : r;
}

static int ask_stacks(struct maker *m)
{
    static const char *const sums[] = {"leaked", "allocated", "temporary", "calls"};
    int r = ask_calls(m, "peak", "peak");

    if (r == 0)
        r = ask_calls(m, "peak", "end");
    for (size_t i = 0; i < ML_ARRAY_SIZE(sums) && r == 0; i++)
        r = ask_calls(m, sums[i], NULL);
    return r;
}

/* Segments and their holes, which the page draws for a moment. */
static int ask_segments(struct maker *m)
{
    static const char *const instants[] = {"peak", "end"};
    int r = 0;

    for (size_t i = 0; i < ML_ARRAY_SIZE(instants) && r == 0; i++)
        r = ask(m, &(struct ml_html_question){
                       "fragmentation", {{"at", instants[i]}, {"top", SEGMENTS}, {"blocks", ""}}});
    return r;
}

static int ask_run(struct maker *m)
{
    static const char *const keys[] = {"category", "module", "device", "process"};
    static const char *const verbs[] = {"leaks", "oom"};
    int r = ask_simple(m, "summary");

    if (r == 0)
        r = ask_simple(m, "steps");
    for (size_t i = 0; i < ML_ARRAY_SIZE(keys) && r == 0; i++)
        r = ask_timeline(m, keys[i]);
    for (size_t i = 0; i < ML_ARRAY_SIZE(keys) && r == 0; i++)
        r = ask_steps_timeline(m, keys[i]);
    for (size_t i = 0; i < ML_ARRAY_SIZE(verbs) && r == 0; i++)
        r = ask_simple(m, verbs[i]);
    return r == 0 ? ask(m, &(struct ml_html_question){"leaks", {{"never-freed", ""}}}) : r;
}

/* ---- Instants ---------------------------------------------------------------- */

static int ask_ooms(struct maker *m)
{
    int r = 0;

    for (size_t i = 0; i < m->refusals.list.len && r == 0; i++) {
        const struct ml_refusal *refusal = &m->refusals.list.items[i];

        if (refusal->state != ML_REFUSAL_STANDS || m->q->ooms_taken == OOMS_MAX)
            continue;
        m->q->ooms_taken++;
        r = ask_instant(m, printed(m, "oom:", refusal->number, ""), refusal->time_ns);
    }
    return r;
}

/* The first, the last, and others at equal distances. */
static int ask_steps(struct maker *m)
{
    size_t count = m->summary.steps.list.len, taken = count < STEPS_MAX ? count : STEPS_MAX;
    int r = 0;

    m->q->steps_taken = taken;
    for (size_t i = 0; i < taken && r == 0; i++) {
        size_t index = taken > 1 ? i * (count - 1) / (taken - 1) : 0;
        const struct ml_step *step = &m->summary.steps.list.items[index];

        r = ask_instant(m, printed(m, "step:", step->number, ""), step->peak_time_ns);
    }
    return r;
}

/* Other views of the peak and the end: largest groups of blocks, call sites, one category each. The
 * page groups a trace without modules by function and file. */
static int ask_other_tables(struct maker *m)
{
    static const char *const keys[] = {"category", "module", "label,category", "line,category",
                                       "function,file"};
    static const char *const instants[] = {"peak", "end"};
    int r = 0;

    for (size_t i = 0; i < ML_ARRAY_SIZE(keys) && r == 0; i++)
        for (size_t at = 0; at < ML_ARRAY_SIZE(instants) && r == 0; at++)
            r = ask_table(m, instants[at], keys[i]);
    return r;
}

/* What the page asks for once a device is chosen, at the peak. */
static int ask_device(struct maker *m, const char *name)
{
    const struct ml_html_option device = {"device", name};
    const struct ml_html_question questions[] = {
        {"plot", {{"by", "category"}, {"width", COLUMNS}, device}},
        {"tree", {{"at", "peak"}, {"min", "0"}, device}},
        {"table", {{"at", "peak"}, {"by", DEFAULT_KEYS}, {"top", GROUPS}, device}},
        {"ledger", {{"at", "peak"}, device}},
    };
    int r = name ? 0 : -ENOMEM;

    for (size_t i = 0; i < ML_ARRAY_SIZE(questions) && r == 0; i++)
        r = ask(m, &questions[i]);
    return r;
}

static int ask_devices(struct maker *m)
{
    int r = 0;

    for (size_t i = 0; i < m->summary.devices.len && i < DEVICES_MAX && r == 0; i++) {
        const char *name = m->summary.devices.items[i].name;

        if (m->summary.devices.len > 1)
            r = ask_device(m, ml_arena_dup(&m->q->arena, name, strlen(name)));
    }
    return r;
}

static int ask_end(struct maker *m, struct ml_error *err)
{
    struct ml_instant end;
    int r = ml_instant_find(m->trace, &(struct ml_at){.kind = ML_AT_END}, NULL, &end, err);

    return r == 0 ? ask_instant(m, "end", end.time_ns) : r;
}

static int ask_all(struct maker *m, struct ml_error *err)
{
    int r = ask_run(m);

    if (r == 0)
        r = ask_instant(m, "peak", m->summary.counted.peak_time_ns);
    if (r == 0)
        r = ask_end(m, err);
    if (r == 0)
        r = ask_ooms(m);
    if (r == 0)
        r = ask_other_tables(m);
    if (r == 0)
        r = ask(m, &(struct ml_html_question){"stats", {{"top", GROUPS}}});
    if (r == 0)
        r = ask_stacks(m);
    if (r == 0)
        r = ask_blocks(m);
    if (r == 0)
        r = ask_segments(m);
    if (r == 0)
        r = ask_steps(m);
    return r == 0 ? ask_devices(m) : r;
}

int ml_html_questions_read(const struct ml_trace *trace, struct ml_html_questions *ret,
                           struct ml_error *err)
{
    struct maker m = {.trace = trace, .q = ret};
    int r;

    *ret = (struct ml_html_questions){0};
    r = ml_summarize(trace, &(struct ml_summary_opts){0}, &m.summary, err);
    if (r == 0)
        r = ml_refusals(trace, NULL, 0, &m.refusals, err);
    if (r == 0) {
        ret->steps = m.summary.steps.list.len;
        ret->ooms = m.refusals.standing;
        r = ask_all(&m, err);
    }
    ml_refusals_release(&m.refusals);
    ml_summary_release(&m.summary);
    return r;
}

void ml_html_questions_release(struct ml_html_questions *questions)
{
    ml_vec_release(&questions->list);
    ml_vec_release(&questions->instants);
    ml_arena_release(&questions->arena);
}
