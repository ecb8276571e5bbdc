/* vgg19.c: runs forward passes of VGG-19 and prints one line about them. Run it
 * under `memledger run` to see which layer's buffer filled the memory, for each
 * of four ways to compute a convolution.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "logits.h"
#include "network.h"
#include "vgg_options.h"

#include <stdio.h>
#include <time.h>

enum { EXIT_AGREED = 0, EXIT_DIFFERENT = 1, EXIT_TROUBLE = 2 };

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void print_run(const struct options *options, const struct buffers *buffers,
                      const float *logits, double seconds)
{
    size_t best = logits_argmax(logits, NETWORK_CLASSES);

    printf("algo=%s size=%d seconds=%.3f argmax=%zu max_logit=%.6f checksum=%.6f buffers=%zu "
           "peak_bytes=%zu\n",
           options->algorithm->name, options->size, seconds, best, (double)logits[best],
           logits_sum(logits, NETWORK_CLASSES), buffers->made, buffers->peak_bytes);
}

static int check(const char *path, const float *logits)
{
    float expected[NETWORK_CLASSES];
    struct logits_difference difference;
    int agree;

    if (logits_read(path, expected, NETWORK_CLASSES))
        return EXIT_TROUBLE;
    difference = logits_compare(logits, expected, NETWORK_CLASSES);
    agree = difference.absolute <= LOGITS_TOLERANCE && difference.relative <= LOGITS_TOLERANCE;
    printf("check=%s max_abs_diff=%.3g max_rel_diff=%.3g tolerance=%g\n",
           agree ? "agree" : "DIFFERENT", difference.absolute, difference.relative,
           LOGITS_TOLERANCE);
    return agree ? EXIT_AGREED : EXIT_DIFFERENT;
}

static int report(const struct options *options, const struct buffers *buffers, const float *logits,
                  double seconds)
{
    print_run(options, buffers, logits, seconds);
    if (options->output && logits_write(options->output, logits, NETWORK_CLASSES))
        return EXIT_TROUBLE;
    return options->check ? check(options->check, logits) : EXIT_AGREED;
}

/* On success the logits are the caller's to release. */
static int forward_pass(struct engine *engine, const struct options *options, int pass,
                        struct buffer *logits)
{
    struct buffer input = {0};

    memledger_step((uint64_t)pass);
    memledger_phase("input");
    if (network_input(engine, options->size, options->seed, &input))
        return -1;
    memledger_phase("forward");
    return network_forward(engine, options->algorithm, options->size, options->seed, &input,
                           logits);
}

static int run(const struct options *options)
{
    struct engine engine = {.workers = workers_new(options->threads)};
    struct buffer logits = {0};
    int status = EXIT_TROUBLE;
    double start = seconds_now();

    if (!engine.workers) {
        fputs("vgg19: no memory to start\n", stderr);
        return EXIT_TROUBLE;
    }
    buffers_init(&engine.buffers);
    for (int pass = 0; pass < options->passes; pass++) {
        buffer_release(&engine.buffers, &logits);
        if (forward_pass(&engine, options, pass, &logits))
            goto out;
    }
    memledger_phase("report");
    status = report(options, &engine.buffers, logits.data, seconds_now() - start);
out:
    buffer_release(&engine.buffers, &logits);
    workers_free(engine.workers);
    return status;
}

int main(int argc, char **argv)
{
    struct options options;

    if (options_parse(argc, argv, &options))
        return EXIT_TROUBLE;
    if (options.help) {
        options_print_help();
        return EXIT_AGREED;
    }
    return run(&options);
}
