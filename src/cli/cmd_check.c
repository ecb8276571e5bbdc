/* cmd_check.c: `memledger check`: fails if a run exceeded a limit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "limits_report.h"
#include "report_command.h"
#include "text.h"
#include "verbs.h"

struct check_opts {
    struct ml_report_opts report; /* first, as its option entries require */
    const char *growth;
    struct ml_limits_opts limits;
};

static const struct ml_option options[] = {
    {.name = "max-peak",
     .type = ML_OPT_BYTES,
     .offset = offsetof(struct check_opts, limits.max_peak_bytes),
     .value_name = "SIZE",
     .help = "fail if the peak of a device exceeds SIZE"},
    {.name = "max-growth",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct check_opts, growth),
     .value_name = "SIZE/step",
     .help = "fail if live memory grows by more than SIZE a step"},
    {.name = "max-leaks",
     .type = ML_OPT_BYTES,
     .offset = offsetof(struct check_opts, limits.max_left_bytes),
     .value_name = "SIZE",
     .help = "fail if more than SIZE was never freed"},
    {.name = "device",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct check_opts, limits.device),
     .value_name = "NAME",
     .help = "check only this device: cuda:0 (or 0), cpu for the host"},
    ML_REPORT_OPTIONS,
};

#define PER_STEP "/step"

/* "1MB/step". @return 0 or -EINVAL */
static int parse_growth(const char *text, uint64_t *ret)
{
    char size[64];
    size_t len = strlen(text), unit = strlen(PER_STEP);

    if (len < unit || strcmp(text + len - unit, PER_STEP) != 0)
        return -EINVAL;
    len -= unit;
    if (len >= sizeof(size))
        return -EINVAL;
    memcpy(size, text, len);
    size[len] = 0;
    return ml_parse_bytes(size, ret) < 0 ? -EINVAL : 0;
}

static int print(const struct ml_limits *limits, const char *file, const struct check_opts *opts)
{
    struct ml_style style = ml_report_style(&opts->report);
    struct ml_buf out;
    int r, status;

    ml_buf_init(&out);
    r = opts->report.json ? ml_limits_json(limits, file, &out)
                          : ml_limits_text(limits, file, &style, &out);
    status = r < 0 ? ml_report_fail(&(struct ml_error){0}) : ml_report_write(&out);
    ml_buf_release(&out);
    return status == ML_EXIT_OK && limits->exceeded ? ML_EXIT_FAILURE : status;
}

static int check(const char *file, const struct check_opts *opts)
{
    struct ml_trace *trace = ml_report_open(file, &opts->report);
    struct ml_error err = {0};
    struct ml_limits limits;
    int status;

    if (!trace)
        return ML_EXIT_FAILURE;
    if (ml_limits(trace, &opts->limits, &limits, &err) < 0)
        status = ml_report_fail(&err);
    else
        status = print(&limits, file, opts);
    ml_limits_release(&limits);
    ml_trace_free(trace);
    return status;
}

static int run(int argc, char **argv)
{
    struct check_opts opts = {.limits = {.max_peak_bytes = ML_NO_LIMIT,
                                         .max_growth_bytes = ML_NO_LIMIT,
                                         .max_left_bytes = ML_NO_LIMIT}};
    const char *file;
    int first, status = ml_verb_begin(&ml_verb_check, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    if (opts.growth && parse_growth(opts.growth, &opts.limits.max_growth_bytes) < 0)
        return ml_verb_usage_error(&ml_verb_check,
                                   "--max-growth: '%s' is not a size per step; write 1MiB/step",
                                   opts.growth);
    if (opts.limits.max_peak_bytes == ML_NO_LIMIT && opts.limits.max_growth_bytes == ML_NO_LIMIT &&
        opts.limits.max_left_bytes == ML_NO_LIMIT)
        return ml_verb_usage_error(&ml_verb_check,
                                   "no limit given; use --max-peak, --max-growth or --max-leaks");
    file = ml_report_operand(&ml_verb_check, argc, argv, first);
    return file ? check(file, &opts) : ML_EXIT_USAGE;
}

const struct ml_verb ml_verb_check = {
    .name = "check",
    .summary = "fail if the peak, growth or leaks exceed a limit, for CI",
    .usage = "[OPTION]... FILE",
    .details = "Exit code: 0 if all limits were kept, 1 if not or if a limit cannot be\n"
               "checked, 2 for a wrong command line.",
    .group = ML_GROUP_COMPARE,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
