/* cmd_events.c: `memledger events`: one line per event.
 *
 * Output is written while the trace is read, however long it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "checkpoints.h"
#include "events.h"
#include "events_report.h"
#include "health_report.h"
#include "nearest.h"
#include "event_names.h"
#include "instant_command.h"
#include "verbs.h"

#define FLUSH_BYTES 65536

struct events_opts {
    struct ml_instant_opts instant; /* first, as its option entries want it */
    uint64_t from_ns, to_ns;
    uint64_t min_bytes, max_bytes;
    const char *scope, *space, *kinds;
    int64_t limit;
};

static const struct ml_option options[] = {
    {.name = "from",
     .type = ML_OPT_DURATION,
     .offset = offsetof(struct events_opts, from_ns),
     .value_name = "TIME",
     .help = "skip events before this time (1.5s, 20ms)"},
    {.name = "to",
     .type = ML_OPT_DURATION,
     .offset = offsetof(struct events_opts, to_ns),
     .value_name = "TIME",
     .help = "skip events after this time"},
    {.name = "scope",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct events_opts, scope),
     .value_name = "TEXT",
     .help = "show only events in scopes whose path contains TEXT"},
    {.name = "min-size",
     .type = ML_OPT_BYTES,
     .offset = offsetof(struct events_opts, min_bytes),
     .value_name = "SIZE",
     .help = "show only events of at least SIZE (4096, 1.5MiB)"},
    {.name = "max-size",
     .type = ML_OPT_BYTES,
     .offset = offsetof(struct events_opts, max_bytes),
     .value_name = "SIZE",
     .help = "show only events of at most SIZE"},
    {.name = "kind",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct events_opts, kinds),
     .value_name = "KIND,...",
     .help = "show only these: alloc, free, move, label, mark, ..."},
    {.name = "space",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct events_opts, space),
     .value_name = "TEXT",
     .help = "show only memory events whose space contains TEXT"},
    {.name = "limit",
     .letter = 'n',
     .type = ML_OPT_INT,
     .offset = offsetof(struct events_opts, limit),
     .value_name = "N",
     .help = "stop after N events",
     .min = 1,
     .max = INT64_MAX},
    ML_OPTION_DEVICE,
    {.name = "process",
     .type = ML_OPT_INT,
     .offset = offsetof(struct ml_instant_opts, process),
     .value_name = "PID",
     .help = "show only events of this process",
     .min = 1,
     .max = UINT32_MAX},
    ML_OPTION_CHECKPOINTS,
    ML_REPORT_OPTIONS,
};

struct printer {
    bool as_json;
    struct ml_style style;
    struct ml_event_columns columns;
    struct ml_buf out;
    struct ml_json json;
    uint64_t shown;
    int status;
};

/* ---- Writing ----------------------------------------------------------- */

static int flush(struct printer *p)
{
    p->status = ml_report_write(&p->out);
    ml_buf_clear(&p->out);
    return p->status == ML_EXIT_OK ? 0 : -EIO;
}

static int print_event(void *ctx, const struct ml_event_view *view)
{
    struct printer *p = ctx;
    int r;

    p->shown++;
    if (p->as_json) {
        r = ml_buf_puts(&p->out, "\n"); /* a line for each */
        ml_event_json(view, &p->json);
    } else {
        r = ml_event_text(view, &p->style, &p->columns, &p->out);
    }
    if (r == 0 && p->out.len >= FLUSH_BYTES)
        r = flush(p);
    return r;
}

static int begin(struct printer *p, const char *file)
{
    if (!p->as_json)
        return ml_events_text_head(&p->columns, &p->out);
    ml_json_init(&p->json, &p->out, false);
    ml_json_begin_object(&p->json);
    ml_json_kv_cstr(&p->json, "file", file);
    ml_json_key(&p->json, "events");
    ml_json_begin_array(&p->json);
    return 0;
}

/* @problem  why events are missing; NULL: none is */
static int end(struct printer *p, const struct ml_health *health, const char *problem)
{
    int r = 0;

    if (p->as_json) {
        ml_json_end_array(&p->json);
        ml_json_kv_u64(&p->json, "count", p->shown);
        ml_json_kv_u64(&p->json, "lost", health->lost);
        ml_health_json(health, &p->json);
        if (problem)
            ml_json_kv_cstr(&p->json, "error", problem);
        ml_json_end_object(&p->json);
        r = ml_json_finish(&p->json);
        if (r == 0)
            r = ml_buf_puts(&p->out, "\n");
    }
    return r < 0 ? r : flush(p);
}

/* ---- The command ------------------------------------------------------- */

static int unknown_kind(const char *name)
{
    size_t len = strcspn(name, ",");
    char typed[64];
    struct ml_nearest nearest = {.typed = typed};

    snprintf(typed, sizeof(typed), "%.*s", (int)(len < 63 ? len : 63), name);
    for (uint32_t kind = 1; kind < ML_KIND_COUNT; kind++)
        ml_nearest_offer(&nearest, ml_kind_name(kind));
    return ml_verb_usage_error(&ml_verb_events, "--kind: unknown kind of event '%s'%s%s%s", typed,
                               nearest.word ? "; did you mean '" : "",
                               nearest.word ? nearest.word : "", nearest.word ? "'?" : "");
}

static int list_events(const struct ml_trace *trace, const char *file,
                       const struct events_opts *opts, const struct ml_events_opts *filter)
{
    struct printer p = {.as_json = opts->instant.report.json,
                        .style = ml_report_style(&opts->instant.report)};
    struct ml_health health = {0};
    struct ml_error err = {0};
    int r;

    ml_buf_init(&p.out);
    p.columns = ml_event_columns(trace, &p.style);
    r = begin(&p, file);
    if (r == 0)
        r = ml_events(trace, filter, print_event, &p, &health, &err);
    if (p.status == ML_EXIT_OK && r < 0)
        ml_report_fail(&err);
    if (p.status == ML_EXIT_OK && end(&p, &health, r < 0 ? err.text : NULL) < 0)
        r = -EIO; /* reported already */
    ml_report_warn(&health, NULL);
    ml_buf_release(&p.out);
    return r < 0 ? ML_EXIT_FAILURE : ML_EXIT_OK;
}

/* Checkpoints are for the blocks that are live before --from. */
static struct ml_trace *open_trace(const char *file, const struct events_opts *opts)
{
    return opts->from_ns > 0 ? ml_instant_open(file, &opts->instant)
                             : ml_report_open(file, &opts->instant.report);
}

/* The live table shortly before a time. A free shows the last label of its block so far, not the
 * category that the block has in the end: checkpoints with categories are of no use here. */
static bool start_later(const struct ml_trace *trace, uint64_t from_ns, struct ml_replay *ret)
{
    struct ml_checkpoints checkpoints = {0};
    struct ml_classes classes = {0};
    bool usable = from_ns > 0 && ml_checkpoints_open(trace, &checkpoints) == 0 &&
                  !checkpoints.classified && ml_replay_init(ret, trace) == 0;

    if (usable &&
        ml_checkpoint_restore(&checkpoints, ml_checkpoint_before_time(&checkpoints, from_ns - 1),
                              ret, &classes) < 0) {
        ml_replay_release(ret);
        usable = false;
    }
    ml_checkpoints_release(&checkpoints);
    return usable;
}

static int run(int argc, char **argv)
{
    struct events_opts opts = {.to_ns = UINT64_MAX, .max_bytes = UINT64_MAX};
    struct ml_events_opts filter;
    struct ml_replay start;
    struct ml_trace *trace;
    const char *file, *unknown = NULL;
    int first, status = ml_verb_begin(&ml_verb_events, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    filter = (struct ml_events_opts){
        .from_ns = opts.from_ns,
        .to_ns = opts.to_ns,
        .scope = opts.scope,
        .space = opts.space,
        .device = opts.instant.device,
        .pid = (uint32_t)opts.instant.process,
        .by_size = opts.min_bytes > 0 || opts.max_bytes < UINT64_MAX,
        .min_bytes = opts.min_bytes,
        .max_bytes = opts.max_bytes,
        .limit = (uint64_t)opts.limit,
    };
    if (opts.from_ns > opts.to_ns)
        return ml_verb_usage_error(&ml_verb_events, "--from is later than --to");
    if (opts.kinds && ml_events_parse_kinds(opts.kinds, &filter.kinds, &unknown) < 0)
        return unknown_kind(unknown);
    file = ml_report_operand(&ml_verb_events, argc, argv, first);
    if (!file)
        return ML_EXIT_USAGE;
    trace = open_trace(file, &opts);
    if (!trace)
        return ML_EXIT_FAILURE;
    filter.start = start_later(trace, opts.from_ns, &start) ? &start : NULL;
    status = list_events(trace, file, &opts, &filter);
    ml_trace_free(trace);
    return status;
}

const struct ml_verb ml_verb_events = {
    .name = "events",
    .summary = "list events, filtered by time, size, kind, scope or space",
    .usage = "[OPTION]... FILE",
    .details = "A free shows the size of the block that it frees.\n"
               "--kind alloc includes alloc_ex, --kind free includes free_range.",
    .group = ML_GROUP_LOOK,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
