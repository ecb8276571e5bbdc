/* cmd_run.c: `memledger run`: record a program and its children.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include "collector_process.h"
#include "output_name.h"
#include "run_program.h"
#include "sampler.h"
#include "verbs.h"

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
     .help = "record the host heap: the malloc family; all: mmap too"},
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
    {.name = "wait",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_run_opts, wait),
     .help = "record until every process it started has ended"},
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
    if (o->sample_only && !o->sample_hz)
        return "--sample-only with --sample-hz 0 would record nothing";
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

static int cmd_run(int argc, char **argv)
{
    struct ml_run_opts opts = {.output = ML_OUTPUT_DEFAULT,
                               .ring_bytes = ML_RING_BYTES_UNSAID,
                               .sample_hz = ML_SAMPLE_HZ_DEFAULT};
    const char *wrong;
    int first;
    int r = ml_verb_begin(&ml_verb_run, &opts, argc, argv, &first);

    if (r >= 0)
        return r;
    if (first >= argc)
        return ml_verb_usage_error(&ml_verb_run, "name the program to run%s",
                                   opts.sample_only ? "; sleep 60 watches for a minute" : "");
    wrong = contradiction(&opts);
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
