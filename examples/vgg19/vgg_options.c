/* vgg_options.c: one table with the options' names, values and help.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "vgg_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_SIZE = 128, DEFAULT_SEED = 1, MAX_THREADS = 1024, MAX_PASSES = 1000000 };

/* A row's function sets its value and returns 0, or prints an error and returns -1. */
struct option_row {
    const char *name;
    const char *value; /* NULL: takes none; in brackets: may be left out */
    const char *help;
    int (*set)(struct options *options, const char *value);
};

static int parse_number(const char *text, uint64_t max, uint64_t *ret)
{
    char *end;
    unsigned long long number;

    errno = 0;
    number = strtoull(text, &end, 10);
    if (errno || end == text || *end || strchr(text, '-') || number > max)
        return -1;
    *ret = number;
    return 0;
}

static int set_algorithm(struct options *options, const char *value)
{
    options->algorithm = conv_find(value);
    if (options->algorithm)
        return 0;
    fprintf(stderr, "vgg19: --algo %s is unknown; there are:", value);
    for (const struct conv_algorithm *a = conv_algorithms; a->name; a++)
        fprintf(stderr, " %s", a->name);
    fputc('\n', stderr);
    return -1;
}

static int set_device(struct options *options, const char *value)
{
    if (!strcmp(value, "cpu"))
        options->device = DEVICE_CPU;
    else if (!strcmp(value, "cuda"))
        options->device = DEVICE_CUDA;
    else {
        fprintf(stderr, "vgg19: --device %s is unknown; there are: cpu cuda\n", value);
        return -1;
    }
    return 0;
}

static int set_size(struct options *options, const char *value)
{
    uint64_t size;

    if (parse_number(value, CONV_MAX_SIZE, &size) || !size) {
        fprintf(stderr, "vgg19: --size %s is not a number from %d to %d\n", value, NETWORK_SHRINK,
                CONV_MAX_SIZE);
        return -1;
    }
    if (size % NETWORK_SHRINK) {
        fprintf(stderr,
                "vgg19: --size %s is not a multiple of %d: the network halves the image five "
                "times; try %d\n",
                value, NETWORK_SHRINK, ((int)size / NETWORK_SHRINK + 1) * NETWORK_SHRINK);
        return -1;
    }
    options->task.size = (int)size;
    return 0;
}

static int set_seed(struct options *options, const char *value)
{
    if (!parse_number(value, UINT64_MAX, &options->task.seed))
        return 0;
    fprintf(stderr, "vgg19: --seed %s is not a whole number\n", value);
    return -1;
}

static int set_count(const char *name, const char *value, int max, int *ret)
{
    uint64_t count;

    if (parse_number(value, (uint64_t)max, &count) || !count) {
        fprintf(stderr, "vgg19: %s %s is not a number from 1 to %d\n", name, value, max);
        return -1;
    }
    *ret = (int)count;
    return 0;
}

static int set_batch(struct options *options, const char *value)
{
    return set_count("--batch", value, CONV_MAX_BATCH, &options->task.batch);
}

static int set_threads(struct options *options, const char *value)
{
    return set_count("--threads", value, MAX_THREADS, &options->threads);
}

static int set_passes(struct options *options, const char *value)
{
    return set_count("--passes", value, MAX_PASSES, &options->passes);
}

static int set_output(struct options *options, const char *value)
{
    options->output = value;
    return 0;
}

static int set_check(struct options *options, const char *value)
{
    options->check = true;
    options->check_file = value;
    return 0;
}

static int set_cuda_libs(struct options *options, const char *value)
{
    options->cuda_libs = value;
    return 0;
}

static int set_probe(struct options *options, const char *value)
{
    (void)value;
    options->probe = true;
    return 0;
}

static int set_help(struct options *options, const char *value)
{
    (void)value;
    options->help = true;
    return 0;
}

static const struct option_row rows[] = {
    {"--algo", "NAME", "direct (default), im2col, winograd, fft; cudnn on a GPU", set_algorithm},
    {"--device", "NAME", "cpu (default), or cuda: the first GPU", set_device},
    {"--batch", "N", "images in the input, 1 to 64 (default 1)", set_batch},
    {"--size", "N", "side of the input, a multiple of 32 up to 512 (default 128)", set_size},
    {"--seed", "N", "where input and weights come from (default 1)", set_seed},
    {"--threads", "N", "threads to compute with (default: one per core)", set_threads},
    {"--passes", "N", "forward passes, one after the other (default 1)", set_passes},
    {"--output", "FILE", "write the logits as text, 1000 to an image", set_output},
    {"--check", "[FILE]",
     "compare with an earlier --output, or the host's result; exit 1 if they differ", set_check},
    {"--cuda-libs", "DIR", "where NVRTC and cuDNN are, if not in the usual places", set_cuda_libs},
    {"--probe", NULL, "say which device would run this, and exit", set_probe},
    {"--help", NULL, "print this and exit", set_help},
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

static const struct option_row *find_row(const char *name)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

/* `next` is NULL at the end. */
static bool takes_value(const struct option_row *row, const char *next)
{
    if (!row->value || !next)
        return false;
    return *row->value != '[' || strncmp(next, "--", 2) != 0;
}

int options_parse(int argc, char **argv, struct options *ret)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct options options = {
        .algorithm = conv_algorithms,
        .task = {.batch = 1, .size = DEFAULT_SIZE, .seed = DEFAULT_SEED},
        .threads = cores < 1             ? 1
                   : cores > MAX_THREADS ? MAX_THREADS
                                         : (int)cores,
        .passes = 1,
    };

    for (int i = 1; i < argc; i++) {
        const struct option_row *row = find_row(argv[i]);
        const char *value = NULL;

        if (!row) {
            fprintf(stderr, "vgg19: %s is not an option; see vgg19 --help\n", argv[i]);
            return -1;
        }
        if (takes_value(row, argv[i + 1])) {
            value = argv[++i];
        } else if (row->value && *row->value != '[') {
            fprintf(stderr, "vgg19: %s needs a value: %s %s\n", row->name, row->name, row->value);
            return -1;
        }
        if (row->set(&options, value))
            return -1;
    }
    if (options.device == DEVICE_CPU && !options.algorithm->run) {
        fprintf(stderr, "vgg19: --algo %s needs --device cuda\n", options.algorithm->name);
        return -1;
    }
    *ret = options;
    return 0;
}

void options_print_help(void)
{
    puts("usage: vgg19 [OPTION...]\n"
         "One forward pass of VGG-19 on the CPU or a GPU, every buffer named for memledger.\n");
    for (int i = 0; i < ROW_COUNT; i++)
        printf("  %-11s %-6s %s\n", rows[i].name, rows[i].value ? rows[i].value : "", rows[i].help);
    puts("\nExit status: 0 done, 1 --check found a difference, 2 it could not run,\n"
         "3 --device cuda without a CUDA device, or without what it needs.");
}
