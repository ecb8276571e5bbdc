/* cmd_run.c: `memledger run`: record a program and its children.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include "collector_process.h"
#include "instant_command.h"
#include "keep_option.h"
#include "output_name.h"
#include "run_digest.h"
#include "run_program.h"
#include "sampled.h"
#include "sampler.h"
#include "save_options.h"
#include "verbs.h"

#define STACKS_UNSAID (-1)
#define HEAP_BYTES_UNSAID UINT64_MAX

/* In the order of enum ml_names_mode. */
static const char *const names_choices[] = {"auto", "off", NULL};
/* In the order of enum ml_symbolize_mode. */
static const char *const symbols_choices[] = {"auto", "off", NULL};

static const struct ml_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_run_opts, output),
     .value_name = "FILE",
     .help = "write to FILE; %p process id, %h host, %n program"},
    {.name = "force",
     .letter = 'f',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_run_opts, force),
     .help = "overwrite an existing file"},
    {.name = "quiet",
     .letter = 'q',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_run_opts, quiet),
     .help = "hide progress and notes, but not errors and losses"},
    {.name = "heap",
     .type = ML_OPT_OPTIONAL_CHOICE,
     .offset = offsetof(struct ml_run_opts, heap),
     .value_name = "WHAT",
     .choices = ml_heap_choices,
     .amount_offset = offsetof(struct ml_run_opts, heap_bytes),
     .help =
         "record malloc; all: mmap too, sample[:BYTES]: about one block in every BYTES (512 KiB), "
         "large:BYTES: from BYTES on"},
    {.name = "cuda",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct ml_run_opts, cuda),
     .value_name = "HOW",
     .choices = ml_cuda_choices,
     .help = "hook CUDA calls: auto (by preload), injection, off"},
    {.name = "ops",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_run_opts, operators),
     .help = "record PyTorch operators as scopes inside modules"},
    {.name = "names",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct ml_run_opts, names),
     .value_name = "HOW",
     .choices = names_choices,
     .help = "name modules and tensors: auto (import hook), off"},
    {.name = "stacks",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct ml_run_opts, stacks),
     .value_name = "WHAT",
     .choices = ml_stacks_choices,
     .help = "record the stack of each block: none, python lines, native frames (malloc too), all"},
    {.name = "symbols",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct ml_run_opts, symbols),
     .value_name = "HOW",
     .choices = symbols_choices,
     .help = "look up source lines of native stacks at the end: auto, off"},
    {.name = "sample-hz",
     .type = ML_OPT_INT,
     .offset = offsetof(struct ml_run_opts, sample_hz),
     .value_name = "N",
     .help = "sample GPU memory N times a second, 0: never (1000)",
     .max = ML_SAMPLE_HZ_MAX},
    {.name = "sample-only",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_run_opts, sample_only),
     .help = "leave the program untouched, record samples only"},
    {.name = "keep",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_run_opts, keep),
     .value_name = "HOW-MUCH",
     .help = "keep only the last part: a time (10m), a size (500MB), or both"},
    {.name = "on-oom",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_run_opts, on_oom),
     .help = "save a copy of the recording when memory is refused"},
    {.name = "on-signal",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_run_opts, on_signal),
     .value_name = "SIGNAL",
     .help = "save a copy when memledger gets SIGNAL: USR1, USR2, HUP"},
    {.name = "on-growth",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_run_opts, on_growth),
     .value_name = "SHARE/TIME",
     .help = "save a copy when memory has grown, such as 10%/1h"},
    {.name = "checkpoints",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct ml_run_opts, checkpoints),
     .value_name = "WHEN",
     .choices = ml_checkpoint_choices,
     .help = "add checkpoints to the trace: auto (long traces), always, never"},
    {.name = "digest",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct ml_run_opts, digest),
     .value_name = "WHEN",
     .choices = ml_digest_choices,
     .help = "write a digest for memledger ranks: auto (distributed jobs), always, never"},
    {.name = "scan-at-exit",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_run_opts, scan),
     .help = "with --heap: find out which leaked blocks are still reachable"},
    {.name = "wait",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_run_opts, wait),
     .help = "record until every process it started has ended"},
    {.name = "paused",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_run_opts, paused),
     .help = "begin paused; memledger resume PID starts recording"},
    {.name = "ring-size",
     .type = ML_OPT_BYTES,
     .offset = offsetof(struct ml_run_opts, ring_bytes),
     .value_name = "BYTES",
     .help = "buffer BYTES per thread, a power of two (1 MiB)"},
};

/* The error in a combination of options; NULL: none. */
static const char *contradiction(const struct ml_run_opts *o)
{
    if (o->ring_bytes != ML_RING_BYTES_UNSAID &&
        (o->ring_bytes < 65536 || o->ring_bytes > 256u << 20 ||
         o->ring_bytes & (o->ring_bytes - 1)))
        return "--ring-size must be a power of two from 64KiB to 256MiB";
    if (o->heap >= ML_HEAP_SAMPLE && (!o->heap_bytes || o->heap_bytes > ML_SAMPLE_BYTES_MAX))
        return "--heap=sample:BYTES and --heap=large:BYTES take a size from 1 to 1024GiB";
    if (o->scan && o->heap != ML_HEAP_MALLOC && o->heap != ML_HEAP_ALL)
        return "--scan-at-exit needs all blocks of malloc: add --heap or --heap=all";
    if (o->scan && (o->wait || o->keep))
        return "--scan-at-exit cannot be combined with --wait or --keep";
    if (o->sample_only && !o->sample_hz)
        return "--sample-only with --sample-hz 0 would record nothing";
    if (o->sample_only && o->paused)
        return "--sample-only leaves the program untouched; --paused needs the recorder in it";
    if (o->on_growth && !o->sample_hz)
        return "--on-growth needs samples; --sample-hz 0 takes none";
    if (o->sample_only && o->heap)
        return "--sample-only leaves the program untouched; --heap needs the recorder in it";
    if (o->sample_only && o->stacks)
        return "--sample-only leaves the program untouched; --stacks needs the recorder in it";
    if (o->stacks && o->cuda == ML_CUDA_INJECTION)
        return "--stacks needs the preload that --cuda injection leaves out";
    if (o->heap && o->cuda == ML_CUDA_INJECTION)
        return "--heap needs the preload that --cuda injection leaves out";
    return NULL;
}

/* Samples are of use with their stacks, and cheap enough to have them. */
static void complete_heap(struct ml_run_opts *o)
{
    if (o->stacks == STACKS_UNSAID)
        o->stacks = o->heap == ML_HEAP_SAMPLE ? ML_STACKS_NATIVE : ML_STACKS_NONE;
    if (o->heap == ML_HEAP_SAMPLE && o->heap_bytes == HEAP_BYTES_UNSAID)
        o->heap_bytes = ML_SAMPLE_BYTES_DEFAULT;
}

static int cmd_run(int argc, char **argv)
{
    struct ml_run_opts opts = {.output = ML_OUTPUT_DEFAULT,
                               .ring_bytes = ML_RING_BYTES_UNSAID,
                               .stacks = STACKS_UNSAID,
                               .heap_bytes = HEAP_BYTES_UNSAID,
                               .sample_hz = ML_SAMPLE_HZ_DEFAULT};
    struct ml_error err = {0};
    const char *wrong;
    int first;
    int r = ml_verb_begin(&ml_verb_run, &opts, argc, argv, &first);

    if (r >= 0)
        return r;
    if (first >= argc)
        return ml_verb_usage_error(&ml_verb_run, "name the program to run%s",
                                   opts.sample_only ? "; sleep 60 watches for a minute" : "");
    complete_heap(&opts);
    wrong = contradiction(&opts);
    if (!wrong && opts.keep && ml_keep_parse(opts.keep, &opts.limits, &err))
        wrong = err.text;
    if (!wrong && opts.on_signal && ml_save_signal_parse(opts.on_signal, &opts.save_signal, &err))
        wrong = err.text;
    if (!wrong && opts.on_growth && ml_save_growth_parse(opts.on_growth, &opts.growth, &err))
        wrong = err.text;
    if (wrong)
        return ml_verb_usage_error(&ml_verb_run, "%s", wrong);
    return ml_run_program(&opts, argv + first);
}

const struct ml_verb ml_verb_run = {
    .name = "run",
    .summary = "record a program and every process it starts",
    .usage = "[OPTION]... [--] PROGRAM [ARGUMENT]...",
    .details = "The exit code is the program's.",
    .group = ML_GROUP_RECORD,
    .operands = ML_OPERANDS_PROGRAM,
    .options_first = true,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = cmd_run,
};
