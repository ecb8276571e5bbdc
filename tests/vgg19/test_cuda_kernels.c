/* test_cuda_kernels.c: the GPU half of examples/vgg19 beside its host half, on
 * an emulated device: same numbers, same buffers, nothing left behind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "cuda_device.h"
#include "emulated_driver.h"
#include "logits.h"
#include "network.h"

/* Tighter than what the GPU is held to: here both sides round alike. */
#define TOLERANCE 1e-4

enum { THREADS = 2, SEED = 1, BATCH = 3 };

static const struct network_task task = {.batch = 1, .size = 32, .seed = SEED};

struct sides {
    struct engine host;
    struct engine device;
    struct cuda cuda;
};

static int set_up(void **state)
{
    struct sides *sides = calloc(1, sizeof(*sides));
    struct memory memory;

    assert_non_null(sides);
    emulated_reset();
    sides->host = (struct engine){
        .backend = &host_backend,
        .waiting = &sides->host.buffers,
        .workers = workers_new(THREADS),
    };
    sides->device = (struct engine){
        .backend = &cuda_backend,
        .waiting = &sides->cuda.waiting,
        .cuda = &sides->cuda,
    };
    emulated_driver_load(&sides->cuda.driver);
    assert_non_null(sides->host.workers);
    assert_int_equal(cuda_open_device(&sides->cuda), 0);
    assert_int_equal(cuda_load_kernels(&sides->cuda, ""), 0);
    memory = cuda_memory(&sides->cuda);
    buffers_init(&sides->host.buffers, &host_memory);
    buffers_init(&sides->device.buffers, &memory);
    buffers_init(&sides->cuda.waiting, &host_memory);
    *state = sides;
    return 0;
}

/* However a test ended, no memory of the device is left or was overrun. */
static int tear_down(void **state)
{
    struct sides *sides = *state;

    assert_int_equal(emulated.live_blocks, 0);
    assert_int_equal(emulated.damaged, 0);
    assert_int_equal(sides->cuda.waiting.live_bytes, 0);
    cuda_close(&sides->cuda);
    workers_free(sides->host.workers);
    free(sides);
    return 0;
}

static void make(struct buffers *buffers, size_t count, struct buffer *ret)
{
    assert_int_equal(buffer_new(buffers, "test", MEMLEDGER_OTHER, count, ret), 0);
}

static void numbers_are_the_same_bits(void **state)
{
    struct sides *sides = *state;

    for (size_t count = 1; count < 70000; count = 3 * count + 2) {
        const struct uniform numbers = {.seed = count, .stream = 7, .bound = 0.3f};
        struct buffer a = {0}, b = {0};

        make(&sides->host.buffers, count, &a);
        make(&sides->device.buffers, count, &b);
        host_backend.fill(&sides->host, a.data, count, &numbers);
        assert_int_equal(cuda_backend.fill(&sides->device, b.data, count, &numbers), 0);
        assert_memory_equal(a.data, b.data, a.bytes);
        buffer_release(&sides->host.buffers, &a);
        buffer_release(&sides->device.buffers, &b);
    }
}

/* One convolution on both sides, on the same input and filters: the emulated
 * device reads the host's memory. */
struct comparison {
    struct conv_shape shape;
    struct buffer input, weight, expected, output;
};

static void comparison_make(struct sides *sides, struct comparison *comparison)
{
    const struct uniform image = {.seed = SEED, .stream = 1, .bound = 1};
    const struct uniform filters = {.seed = SEED, .stream = 2, .bound = 1};
    const struct conv_shape *shape = &comparison->shape;
    struct engine *host = &sides->host;
    size_t in = (size_t)shape->batch * conv_input_count(shape);
    size_t out = (size_t)shape->batch * conv_output_count(shape);

    make(&host->buffers, in, &comparison->input);
    make(&host->buffers, conv_weight_count(shape), &comparison->weight);
    make(&host->buffers, out, &comparison->expected);
    make(&sides->device.buffers, out, &comparison->output);
    host_backend.fill(host, comparison->input.data, in, &image);
    host_backend.fill(host, comparison->weight.data, conv_weight_count(shape), &filters);
}

static void comparison_release(struct sides *sides, struct comparison *comparison)
{
    buffer_release(&sides->device.buffers, &comparison->output);
    buffer_release(&sides->host.buffers, &comparison->expected);
    buffer_release(&sides->host.buffers, &comparison->weight);
    buffer_release(&sides->host.buffers, &comparison->input);
}

static int convolve(struct sides *sides, const struct comparison *comparison, conv_run *run)
{
    return run(&sides->device, &comparison->shape, comparison->input.data, comparison->weight.data,
               comparison->output.data);
}

/* Same values, within the same memory to the byte. */
static void compare(struct sides *sides, const struct comparison *comparison,
                    const struct conv_algorithm *algorithm)
{
    size_t count = comparison->output.bytes / sizeof(float);
    size_t host_before = sides->host.buffers.live_bytes;
    size_t device_before = emulated.live_bytes;

    memset(comparison->output.data, 0xff, comparison->output.bytes);
    sides->host.buffers.peak_bytes = emulated.peak_bytes = 0;
    assert_int_equal(algorithm->run(&sides->host, &comparison->shape, comparison->input.data,
                                    comparison->weight.data, comparison->expected.data),
                     0);
    assert_int_equal(convolve(sides, comparison, algorithm->run_cuda), 0);
    assert_true(
        logits_compare(comparison->output.data, comparison->expected.data, count).relative <=
        TOLERANCE);
    assert_int_equal(emulated.peak_bytes - device_before,
                     sides->host.buffers.peak_bytes - host_before);
}

/* Sides whose transforms have even and odd halves, channels that fill no
 * vector, images smaller than the kernel, batches. */
static void convolutions_agree(void **state)
{
    static const struct conv_shape shapes[] = {
        {.batch = 1, .in = 1, .out = 4, .size = 2},
        {.batch = 1, .in = 3, .out = 8, .size = 4},
        {.batch = 1, .in = 5, .out = 4, .size = 6},
        {.batch = 1, .in = 16, .out = 12, .size = 14},
        {.batch = 1, .in = 3, .out = 4, .size = 64},
        {.batch = 1, .in = 65, .out = 8, .size = 10},
        {.batch = BATCH, .in = 5, .out = 8, .size = 6},
        {.batch = 64, .in = 1, .out = 4, .size = 2},
    };
    struct sides *sides = *state;

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct comparison comparison = {.shape = shapes[i]};

        comparison_make(sides, &comparison);
        for (const struct conv_algorithm *a = conv_algorithms; a->run; a++)
            compare(sides, &comparison, a);
        comparison_release(sides, &comparison);
    }
}

/* What one image of a batch gives, it gives alone: to the last bit, on both sides. */
static void image_stands_alone(struct sides *sides, const struct comparison *batch,
                               const struct conv_algorithm *algorithm, size_t image)
{
    struct conv_shape one = batch->shape;
    size_t out = conv_output_count(&one);
    const float *input = batch->input.data + image * conv_input_count(&one);
    struct buffer host = {0}, device = {0};

    one.batch = 1;
    make(&sides->host.buffers, out, &host);
    make(&sides->device.buffers, out, &device);
    assert_int_equal(algorithm->run(&sides->host, &one, input, batch->weight.data, host.data), 0);
    assert_int_equal(
        algorithm->run_cuda(&sides->device, &one, input, batch->weight.data, device.data), 0);
    assert_memory_equal(batch->expected.data + image * out, host.data, host.bytes);
    assert_memory_equal(batch->output.data + image * out, device.data, device.bytes);
    buffer_release(&sides->host.buffers, &host);
    buffer_release(&sides->device.buffers, &device);
}

static void images_stand_alone(void **state)
{
    struct sides *sides = *state;
    struct comparison batch = {.shape = {.batch = BATCH, .in = 5, .out = 8, .size = 10}};

    comparison_make(sides, &batch);
    for (const struct conv_algorithm *a = conv_algorithms; a->run; a++) {
        compare(sides, &batch, a);
        for (size_t image = 0; image < BATCH; image++)
            image_stands_alone(sides, &batch, a, image);
    }
    comparison_release(sides, &batch);
}

/* Layers after a convolution on a batch: a kernel may not take one image's value for another's. */
static void layers_agree(void **state)
{
    enum { CHANNELS = 5, SIDE = 8, OUT = 12, IN = CHANNELS * SIDE * SIDE };
    static const struct uniform numbers = {.seed = SEED, .stream = 3, .bound = 1};
    struct sides *sides = *state;
    struct engine *engines[] = {&sides->host, &sides->device};
    struct buffer data[2] = {{0}}, weight = {0}, bias = {0}, output[2] = {{0}};

    make(&sides->host.buffers, (size_t)OUT * IN, &weight);
    make(&sides->host.buffers, OUT, &bias);
    host_backend.fill(&sides->host, weight.data, (size_t)OUT * IN, &numbers);
    host_backend.fill(&sides->host, bias.data, OUT, &numbers);
    for (int i = 0; i < 2; i++) {
        const struct backend *backend = engines[i]->backend;
        const struct linear linear = {
            .weight = weight.data, .bias = bias.data, .in = IN, .out = OUT};

        make(&engines[i]->buffers, (size_t)BATCH * IN, &data[i]);
        make(&engines[i]->buffers, (size_t)BATCH * OUT, &output[i]);
        assert_int_equal(backend->fill(engines[i], data[i].data, (size_t)BATCH * IN, &numbers), 0);
        assert_int_equal(backend->bias_relu(engines[i], data[i].data, bias.data, BATCH, CHANNELS,
                                            (size_t)SIDE * SIDE),
                         0);
        assert_int_equal(backend->linear(engines[i], &linear, data[i].data, BATCH, output[i].data),
                         0);
    }
    assert_memory_equal(data[0].data, data[1].data, data[0].bytes);
    assert_true(logits_compare(output[1].data, output[0].data, (size_t)BATCH * OUT).relative <=
                TOLERANCE);
    for (int i = 0; i < 2; i++) {
        buffer_release(&engines[i]->buffers, &output[i]);
        buffer_release(&engines[i]->buffers, &data[i]);
    }
    buffer_release(&sides->host.buffers, &bias);
    buffer_release(&sides->host.buffers, &weight);
}

/* Fails the first allocation or launch, the second, and so on until none is
 * left to fail. */
static void fail_each(struct sides *sides, const struct comparison *comparison, conv_run *run,
                      size_t *fail, int expected_rc)
{
    size_t number = 0;
    int rc;

    do {
        emulated.allocations = emulated.launches = 0;
        *fail = ++number;
        rc = convolve(sides, comparison, run);
        assert_true(rc == expected_rc || (rc == 0 && number > 1));
        assert_int_equal(emulated.live_blocks, 1); /* the output */
    } while (rc);
    *fail = 0;
}

static void failures_leave_nothing(void **state)
{
    struct sides *sides = *state;
    struct comparison comparison = {.shape = {.batch = BATCH, .in = 3, .out = 4, .size = 2}};

    comparison_make(sides, &comparison);
    for (const struct conv_algorithm *a = conv_algorithms; a->run; a++) {
        fail_each(sides, &comparison, a->run_cuda, &emulated.fail_allocation, -ENOMEM);
        fail_each(sides, &comparison, a->run_cuda, &emulated.fail_launch, -EIO);
    }
    comparison_release(sides, &comparison);
}

static void forward(struct engine *engine, const struct conv_algorithm *algorithm,
                    float logits[NETWORK_CLASSES])
{
    struct buffer input = {0}, result = {0};

    assert_int_equal(network_input(engine, &task, &input), 0);
    assert_int_equal(network_forward(engine, algorithm, &task, &input, &result), 0);
    memcpy(logits, result.data, NETWORK_CLASSES * sizeof(float));
    buffer_release(engine->waiting, &result);
}

/* The whole network: same logits, and the same peak to the byte. */
static void network_agrees(void **state)
{
    struct sides *sides = *state;
    const struct conv_algorithm *algorithm = conv_find("im2col");
    float expected[NETWORK_CLASSES], got[NETWORK_CLASSES];

    forward(&sides->host, algorithm, expected);
    forward(&sides->device, algorithm, got);
    assert_true(logits_compare(got, expected, NETWORK_CLASSES).relative <= TOLERANCE);
    assert_int_equal(sides->device.buffers.peak_bytes, sides->host.buffers.peak_bytes);
    assert_int_equal(emulated.peak_bytes, sides->host.buffers.peak_bytes);
}

/* A pass that runs out of memory half way says so and leaves nothing. */
static void network_survives_failure(void **state)
{
    struct sides *sides = *state;
    struct buffer input = {0}, result = {0};

    assert_int_equal(network_input(&sides->device, &task, &input), 0);
    emulated.fail_allocation = emulated.allocations + 6;
    assert_int_equal(network_forward(&sides->device, conv_find("direct"), &task, &input, &result),
                     -ENOMEM);
    assert_null(result.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_are_the_same_bits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(convolutions_agree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(images_stand_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(layers_agree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failures_leave_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(network_agrees, set_up, tear_down),
        cmocka_unit_test_setup_teardown(network_survives_failure, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
