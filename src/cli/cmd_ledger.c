/* cmd_ledger.c: `memledger ledger`: the driver's figure, entry by entry.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "instant_command.h"
#include "ledger.h"
#include "ledger_report.h"
#include "say.h"
#include "verbs.h"

struct ledger_opts {
    struct ml_instant_opts instant; /* first, as its option entries want it */
    int64_t top;
    double fail_percent; /* negative: never */
};

static const struct ml_option options[] = {
    ML_OPTION_AT,
    ML_OPTION_DEVICE,
    {.name = "fail-over",
     .type = ML_OPT_NUMBER,
     .offset = offsetof(struct ledger_opts, fail_percent),
     .value_name = "PERCENT",
     .help = "exit with 1 if more than PERCENT of the used memory is unexplained",
     .min = 0,
     .max = 1000000},
    {.name = "top",
     .letter = 'n',
     .type = ML_OPT_INT,
     .offset = offsetof(struct ledger_opts, top),
     .value_name = "N",
     .help = "list N scopes and owners in each group (5)",
     .min = 0,
     .max = 1000000},
    ML_OPTION_CHECKPOINTS,
    ML_REPORT_OPTIONS,
};

/* Without samples the share is not known. */
static bool device_passes(const struct ml_ledger_device *device, double percent)
{
    if (!device->sampled)
        ml_say("cannot judge %s: there is no sample of the memory in use", device->name);
    else if (fabs(device->unexplained_percent) > percent)
        ml_say("%s: %.2f %% is unexplained; %g %% is allowed", device->name,
               device->unexplained_percent, percent);
    else
        return true;
    return false;
}

static int judge(const struct ml_ledger *ledger, double percent)
{
    bool ok = true;

    for (size_t i = 0; i < ledger->devices.len; i++)
        ok &= device_passes(&ledger->devices.items[i], percent);
    if (ledger->unlisted_devices > 0) {
        fprintf(stderr, "memledger: %zu devices cannot be judged: %d others used more\n",
                ledger->unlisted_devices, ML_LEDGER_DEVICES_MAX);
        ok = false;
    }
    return ok ? ML_EXIT_OK : ML_EXIT_FAILURE;
}

static int print_ledger(const struct ml_trace *trace, const char *file,
                        const struct ledger_opts *opts, const struct ml_ledger_opts *ledger_opts)
{
    struct ml_style style = ml_report_style(&opts->instant.report);
    struct ml_error err = {0};
    struct ml_ledger ledger;
    struct ml_buf out;
    int status, r = ml_ledger(trace, ledger_opts, &ledger, &err);

    ml_buf_init(&out);
    if (r == 0)
        r = opts->instant.report.json ? ml_ledger_json(&ledger, file, &out)
                                      : ml_ledger_text(&ledger, file, &style, &out);
    if (r < 0) {                     /* a loss may be the reason */
        ledger.health.empty = false; /* the failure says so */
        ml_report_warn(&ledger.health, NULL);
    }
    status = r < 0 ? ml_report_fail(&err) : ml_report_write(&out);
    if (status == ML_EXIT_OK && opts->fail_percent >= 0)
        status = judge(&ledger, opts->fail_percent);
    ml_ledger_release(&ledger);
    ml_buf_release(&out);
    return status;
}

static int run(int argc, char **argv)
{
    struct ledger_opts opts = {.top = 5, .fail_percent = -1};
    struct ml_ledger_opts ledger_opts = {0};
    struct ml_trace *trace;
    const char *file;
    int first, status = ml_verb_begin(&ml_verb_ledger, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    status = ml_instant_parse(&ml_verb_ledger, opts.instant.at, &ledger_opts.at);
    if (status >= 0)
        return status;
    ledger_opts.device = opts.instant.device;
    ledger_opts.top = (size_t)opts.top;
    file = ml_report_operand(&ml_verb_ledger, argc, argv, first);
    if (!file)
        return ML_EXIT_USAGE;
    trace = ml_instant_open(file, &opts.instant);
    if (!trace)
        return ML_EXIT_FAILURE;
    status = print_ledger(trace, file, &opts, &ledger_opts);
    ml_trace_free(trace);
    return status;
}

const struct ml_verb ml_verb_ledger = {
    .name = "ledger",
    .summary = "reconcile the GPU memory in use with the recording",
    .usage = "[OPTION]... FILE",
    .details = "The figures are those of the driver's last sample before the given time. Memory\n"
               "that no entry accounts for is printed as unexplained.",
    .group = ML_GROUP_WHY,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
