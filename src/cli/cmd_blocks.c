/* cmd_blocks.c: `memledger blocks`: single blocks, from allocation to free.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "blocks_report.h"
#include "instant_command.h"
#include "verbs.h"

struct blocks_opts {
    struct ml_instant_opts instant; /* first, as its option entries want it */
    uint64_t from_ns, to_ns;
    const char *address;
    int64_t top, width;
    uint64_t min_bytes;
};

static const struct ml_option options[] = {
    {.name = "from",
     .type = ML_OPT_DURATION,
     .offset = offsetof(struct blocks_opts, from_ns),
     .value_name = "TIME",
     .help = "skip blocks freed before this time (1.5s, 20ms)"},
    {.name = "to",
     .type = ML_OPT_DURATION,
     .offset = offsetof(struct blocks_opts, to_ns),
     .value_name = "TIME",
     .help = "skip blocks allocated after this time"},
    {.name = "at",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_instant_opts, at),
     .value_name = "WHEN",
     .help = "show only blocks live at peak, end, oom, step:N, step:N:end, or a time"},
    {.name = "address",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct blocks_opts, address),
     .value_name = "ADDR",
     .help = "with --at: show the block at this address and its neighbours"},
    ML_OPTION_DEVICE,
    ML_OPTION_PROCESS,
    {.name = "min-size",
     .type = ML_OPT_BYTES,
     .offset = offsetof(struct blocks_opts, min_bytes),
     .value_name = "SIZE",
     .help = "show only blocks of at least SIZE (4096, 1.5MiB)"},
    {.name = "top",
     .letter = 'n',
     .type = ML_OPT_INT,
     .offset = offsetof(struct blocks_opts, top),
     .value_name = "N",
     .help = "list the N largest blocks (20)",
     .min = 0,
     .max = 100000},
    {.name = "width",
     .type = ML_OPT_INT,
     .offset = offsetof(struct blocks_opts, width),
     .value_name = "N",
     .help = "with --json: print a picture of N columns",
     .min = 1,
     .max = 10000},
    ML_OPTION_CHECKPOINTS,
    ML_REPORT_OPTIONS,
};

/* "0x7f00" or "32512". @return whether it is one of these */
static bool parse_address(const char *text, uint64_t *ret)
{
    char *end;

    errno = 0;
    *ret = strtoull(text, &end, 0);
    return errno == 0 && end != text && *end == '\0' && text[0] != '-';
}

/* @return negative to continue, else the exit code */
static int check_opts(const struct blocks_opts *opts, uint64_t *ret_address)
{
    if (opts->instant.at && (opts->from_ns || opts->to_ns))
        return ml_verb_usage_error(&ml_verb_blocks, "--at is one moment; use --from and --to "
                                                    "without it");
    if (opts->to_ns && opts->from_ns > opts->to_ns)
        return ml_verb_usage_error(&ml_verb_blocks, "--from is later than --to");
    if (opts->address && !opts->instant.at)
        return ml_verb_usage_error(&ml_verb_blocks,
                                   "--address needs a moment: add --at peak or --at 1.5s");
    if (opts->address && !parse_address(opts->address, ret_address))
        return ml_verb_usage_error(&ml_verb_blocks,
                                   "--address: '%s' is no address; they look like 0x7f12a4000000",
                                   opts->address);
    if (opts->width && !opts->instant.report.json)
        return ml_verb_usage_error(&ml_verb_blocks, "--width goes with --json");
    return -1;
}

/* Blocks that are live at one moment: finds it. */
static int find_moment(const struct ml_trace *trace, const struct ml_snapshot_opts *snapshot,
                       struct ml_lifetimes_opts *wanted, struct ml_error *err)
{
    struct ml_instant instant;
    int r = ml_instant_find(trace, &snapshot->at, snapshot->device, &instant, err);

    if (r == 0) {
        wanted->one_moment = true;
        wanted->from_ns = instant.time_ns;
        wanted->to_ns = instant.time_ns;
    }
    return r;
}

static int print(const struct blocks_opts *opts, const struct ml_blocks_report *report,
                 struct ml_buf *out)
{
    struct ml_style style = ml_report_style(&opts->instant.report);

    if (opts->width)
        return ml_blocks_picture_json(report, out);
    return opts->instant.report.json ? ml_blocks_json(report, out)
                                     : ml_blocks_text(report, &style, out);
}

static int report(const struct ml_trace *trace, const char *file, const void *opts,
                  const struct ml_snapshot_opts *snapshot, struct ml_buf *out, struct ml_error *err)
{
    const struct blocks_opts *own = opts;
    uint64_t address = 0;
    struct ml_lifetimes_opts wanted = {
        .top = (size_t)own->top,
        .from_ns = own->from_ns,
        .to_ns = own->to_ns,
        .device = snapshot->device,
        .pid = snapshot->pid,
        .min_bytes = own->min_bytes,
        .columns = (size_t)own->width,
    };
    struct ml_lifetimes found = {0};
    int r = ml_check_blocks(trace, err);

    if (own->address && parse_address(own->address, &address))
        wanted.near = &address;
    if (r == 0 && own->instant.at)
        r = find_moment(trace, snapshot, &wanted, err);
    if (r == 0)
        r = ml_lifetimes(trace, &wanted, &found, err);
    if (r == 0)
        r = print(own,
                  &(struct ml_blocks_report){.trace = trace,
                                             .file = file,
                                             .lifetimes = &found,
                                             .device = snapshot->device,
                                             .near = wanted.near},
                  out);
    ml_lifetimes_release(&found);
    return r;
}

static int run(int argc, char **argv)
{
    struct blocks_opts opts = {.top = 20};
    uint64_t address;
    int first, status = ml_verb_begin(&ml_verb_blocks, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    status = check_opts(&opts, &address);
    if (!opts.instant.at && !opts.from_ns && !opts.to_ns)
        opts.instant.checkpoints = ML_CHECKPOINTS_NEVER; /* it reads the whole trace anyway */
    return status >= 0 ? status : ml_instant_run(&ml_verb_blocks, report, &opts, argc, argv, first);
}

const struct ml_verb ml_verb_blocks = {
    .name = "blocks",
    .summary = "list single blocks: where, how long, and their neighbours",
    .usage = "[OPTION]... FILE",
    .details = "Without --from, --to and --at it lists the largest blocks of the run.",
    .group = ML_GROUP_LOOK,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
