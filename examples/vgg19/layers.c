/* layers.c: bias and ReLU, the two poolings, and the fully connected layer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "layers.h"

#include "vec4.h"

static inline float larger(float a, float b)
{
    return a > b ? a : b;
}

struct bias_job {
    float *data;
    const float *bias;
    size_t channels;
    size_t plane;
};

/* Planes are counted over all images. */
static void bias_relu_plane(const void *arg, size_t plane)
{
    const struct bias_job *job = arg;
    float *data = job->data + plane * job->plane;
    float bias = job->bias[plane % job->channels];

    for (size_t i = 0; i < job->plane; i++)
        data[i] = larger(data[i] + bias, 0);
}

void layer_bias_relu(struct workers *workers, float *data, const float *bias, size_t images,
                     size_t channels, size_t plane)
{
    struct bias_job job = {.data = data, .bias = bias, .channels = channels, .plane = plane};

    workers_run(workers, images * channels, bias_relu_plane, &job);
}

struct pool_job {
    const float *input;
    float *output;
    size_t size; /* side of an input plane */
    size_t side; /* side of an output plane */
};

static void max_pool_channel(const void *arg, size_t channel)
{
    const struct pool_job *job = arg;
    const float *from = job->input + channel * job->size * job->size;
    float *to = job->output + channel * job->side * job->side;

    for (size_t y = 0; y < job->side; y++) {
        const float *upper = from + 2 * y * job->size;
        const float *lower = upper + job->size;

        for (size_t x = 0; x < job->side; x++)
            *to++ = larger(larger(upper[2 * x], upper[2 * x + 1]),
                           larger(lower[2 * x], lower[2 * x + 1]));
    }
}

void layer_max_pool(struct workers *workers, const float *input, size_t channels, size_t size,
                    float *output)
{
    struct pool_job job = {.input = input, .output = output, .size = size, .side = size / 2};

    workers_run(workers, channels, max_pool_channel, &job);
}

/* Window i of an axis: from floor(i * size / side) to ceil((i + 1) * size / side). */
struct window {
    size_t begin, end;
};

static struct window adaptive_window(const struct pool_job *job, size_t i)
{
    return (struct window){i * job->size / job->side,
                           ((i + 1) * job->size + job->side - 1) / job->side};
}

static float mean(const float *plane, size_t size, struct window rows, struct window cols)
{
    float sum = 0;

    for (size_t y = rows.begin; y < rows.end; y++)
        for (size_t x = cols.begin; x < cols.end; x++)
            sum += plane[y * size + x];
    return sum / (float)((rows.end - rows.begin) * (cols.end - cols.begin));
}

static void adaptive_pool_channel(const void *arg, size_t channel)
{
    const struct pool_job *job = arg;
    const float *from = job->input + channel * job->size * job->size;
    float *to = job->output + channel * job->side * job->side;

    for (size_t y = 0; y < job->side; y++)
        for (size_t x = 0; x < job->side; x++)
            *to++ = mean(from, job->size, adaptive_window(job, y), adaptive_window(job, x));
}

void layer_adaptive_pool(struct workers *workers, const float *input, size_t channels, size_t size,
                         size_t side, float *output)
{
    struct pool_job job = {.input = input, .output = output, .size = size, .side = side};

    workers_run(workers, channels, adaptive_pool_channel, &job);
}

struct linear_job {
    const struct linear *layer;
    const float *input;
    float *output;
    size_t images;
};

static float dot(const float *a, const float *b, size_t count)
{
    vec4 even = {0}, odd = {0};

    for (size_t i = 0; i < count; i += 2 * VEC4) {
        even += vec4_load(a + i) * vec4_load(b + i);
        odd += vec4_load(a + i + VEC4) * vec4_load(b + i + VEC4);
    }
    return vec4_sum(even + odd);
}

/* One output of every image: the weights are read once. */
static void linear_row(const void *arg, size_t row)
{
    const struct linear_job *job = arg;
    const struct linear *layer = job->layer;

    for (size_t image = 0; image < job->images; image++) {
        float result =
            dot(layer->weight + row * layer->in, job->input + image * layer->in, layer->in) +
            layer->bias[row];

        job->output[image * layer->out + row] = layer->relu ? larger(result, 0) : result;
    }
}

void layer_linear(struct workers *workers, const struct linear *layer, const float *input,
                  size_t images, float *output)
{
    struct linear_job job = {
        .layer = layer,
        .input = input,
        .output = output,
        .images = images,
    };

    workers_run(workers, layer->out, linear_row, &job);
}
