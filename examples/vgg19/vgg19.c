/* vgg19.c: runs forward passes of VGG-19 and prints one line about them. Run it
 * under `memledger run` to see which layer's buffer filled the memory, for each
 * of several ways to compute a convolution.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "backend.h"
#include "cuda_cudnn.h"
#include "logits.h"
#include "network.h"
#include "vgg_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_AGREED = 0, EXIT_DIFFERENT = 1, EXIT_TROUBLE = 2, EXIT_NO_DEVICE = 3 };

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The best class is that of the first image, the checksum is over all. */
static void print_run(const struct options *options, const struct buffers *buffers,
                      const float *logits, double seconds)
{
    size_t best = logits_argmax(logits, NETWORK_CLASSES);

    printf(
        "algo=%s device=%s batch=%d size=%d seconds=%.3f argmax=%zu max_logit=%.6f checksum=%.6f "
        "buffers=%zu "
        "peak_bytes=%zu\n",
        options->algorithm->name, buffers->memory.device, options->task.batch, options->task.size,
        seconds, best, (double)logits[best],
        logits_sum(logits, network_logit_count(&options->task)), buffers->made,
        buffers->peak_bytes);
}

/* The same input and weights with the host's simplest algorithm. Its buffers are not reported:
 * they are not part of the measured run. */
static int compute_on_host(const struct options *options, float *ret)
{
    struct engine engine = {
        .backend = &host_backend,
        .waiting = &engine.buffers,
        .workers = workers_new(options->threads),
    };
    struct buffer input = {0}, logits = {0};
    int rc = -1;

    if (!engine.workers)
        return -1;
    buffers_init(&engine.buffers, &host_memory);
    engine.buffers.space = 0;
    if (!network_input(&engine, &options->task, &input))
        rc = network_forward(&engine, conv_find("direct"), &options->task, &input, &logits);
    if (!rc)
        memcpy(ret, logits.data, logits.bytes);
    buffer_release(engine.waiting, &logits);
    workers_free(engine.workers);
    return rc;
}

static int find_expected(const struct options *options, float *ret)
{
    if (options->check_file)
        return logits_read(options->check_file, ret, network_logit_count(&options->task));
    return compute_on_host(options, ret);
}

static int compare(const struct options *options, const float *logits, const float *expected)
{
    struct logits_difference difference =
        logits_compare(logits, expected, network_logit_count(&options->task));
    int agree = difference.relative <= LOGITS_TOLERANCE;

    if (options->device == DEVICE_CPU)
        agree = agree && difference.absolute <= LOGITS_TOLERANCE;
    printf("check=%s max_abs_diff=%.3g max_rel_diff=%.3g tolerance=%g\n",
           agree ? "agree" : "DIFFERENT", difference.absolute, difference.relative,
           LOGITS_TOLERANCE);
    return agree ? EXIT_AGREED : EXIT_DIFFERENT;
}

static int check(const struct options *options, const float *logits)
{
    float *expected = malloc(network_logit_count(&options->task) * sizeof(float));
    int status = EXIT_TROUBLE;

    if (!expected)
        fputs("vgg19: no memory to check the result\n", stderr);
    else if (!find_expected(options, expected))
        status = compare(options, logits, expected);
    free(expected);
    return status;
}

static int report(const struct options *options, const struct buffers *buffers, const float *logits,
                  double seconds)
{
    print_run(options, buffers, logits, seconds);
    if (options->output &&
        logits_write(options->output, logits, network_logit_count(&options->task)))
        return EXIT_TROUBLE;
    return options->check ? check(options, logits) : EXIT_AGREED;
}

/* On success the caller releases the logits. */
static int forward_pass(struct engine *engine, const struct options *options, int pass,
                        struct buffer *logits)
{
    struct buffer input = {0};

    memledger_step((uint64_t)pass);
    memledger_phase("input");
    if (network_input(engine, &options->task, &input))
        return -1;
    memledger_phase("forward");
    return network_forward(engine, options->algorithm, &options->task, &input, logits);
}

static int run_passes(struct engine *engine, const struct options *options)
{
    struct buffer logits = {0};
    double start = seconds_now();
    int pass = 0;
    int status;

    do {
        buffer_release(engine->waiting, &logits);
        if (forward_pass(engine, options, pass, &logits))
            return EXIT_TROUBLE;
    } while (++pass < options->passes);
    memledger_phase("report");
    status = report(options, &engine->buffers, logits.data, seconds_now() - start);
    buffer_release(engine->waiting, &logits);
    return status;
}

static int run_on_host(const struct options *options)
{
    struct engine engine = {.backend = &host_backend, .waiting = &engine.buffers};
    int status;

    if (options->probe) {
        puts("device=cpu");
        return EXIT_AGREED;
    }
    engine.workers = workers_new(options->threads);
    if (!engine.workers) {
        fputs("vgg19: no memory to start\n", stderr);
        return EXIT_TROUBLE;
    }
    buffers_init(&engine.buffers, &host_memory);
    status = run_passes(&engine, options);
    workers_free(engine.workers);
    return status;
}

static int open_cuda(const struct options *options, struct cuda *cuda)
{
    int rc = cuda_open(cuda, options->cuda_libs);

    if (!rc && options->algorithm->run_cuda == cuda_conv_cudnn)
        rc = cudnn_open(cuda, options->cuda_libs);
    return rc;
}

static int run_on_cuda(const struct options *options)
{
    struct cuda cuda;
    struct engine engine = {.backend = &cuda_backend, .waiting = &cuda.waiting, .cuda = &cuda};
    int status = EXIT_AGREED;
    struct memory memory;

    memledger_phase("start");
    if (open_cuda(options, &cuda)) {
        status = EXIT_NO_DEVICE;
    } else if (options->probe) {
        printf("device=cuda:0 name=\"%s\" capability=%d.%d\n", cuda.name, cuda.capability / 10,
               cuda.capability % 10);
    } else {
        memory = cuda_memory(&cuda);
        buffers_init(&engine.buffers, &memory);
        buffers_init(&cuda.waiting, &host_memory);
        status = run_passes(&engine, options);
    }
    cudnn_close(&cuda);
    cuda_close(&cuda);
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
    return options.device == DEVICE_CUDA ? run_on_cuda(&options) : run_on_host(&options);
}
