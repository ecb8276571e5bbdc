/* instant_command.c: see instant_command.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "instant_command.h"

const char *const ml_checkpoint_choices[] = {"auto", "always", "never", NULL};

int ml_instant_parse(const struct ml_verb *verb, const char *text, struct ml_at *ret)
{
    if (ml_at_parse(text, ret))
        return -1;
    return ml_verb_usage_error(verb, "--at: '%s' is neither " ML_AT_WORDS, text);
}

struct ml_trace *ml_instant_open(const char *path, const struct ml_instant_opts *opts)
{
    struct ml_trace *trace = ml_report_open(path, &opts->report);

    if (trace)
        ml_checkpoint_cache_attach(trace, (enum ml_checkpoint_use)opts->checkpoints);
    return trace;
}

static int print_report(const struct ml_trace *trace, const char *file, const void *opts,
                        const struct ml_snapshot_opts *snapshot, ml_instant_fn *report)
{
    struct ml_error err = {0};
    struct ml_buf out;
    int status;

    ml_buf_init(&out);
    if (report(trace, file, opts, snapshot, &out, &err) < 0)
        status = ml_report_fail(&err);
    else
        status = ml_report_write(&out);
    ml_buf_release(&out);
    return status;
}

int ml_instant_run(const struct ml_verb *verb, ml_instant_fn *report, const void *opts, int argc,
                   char **argv, int first)
{
    const struct ml_instant_opts *own = opts;
    struct ml_snapshot_opts snapshot = {.device = own->device, .pid = (uint32_t)own->process};
    const char *file;
    struct ml_trace *trace;
    int status = ml_instant_parse(verb, own->at, &snapshot.at);

    if (status >= 0)
        return status;
    file = ml_report_operand(verb, argc, argv, first);
    if (!file)
        return ML_EXIT_USAGE;
    trace = ml_instant_open(file, own);
    if (!trace)
        return ML_EXIT_FAILURE;
    status = print_report(trace, file, opts, &snapshot, report);
    ml_trace_free(trace);
    return status;
}
