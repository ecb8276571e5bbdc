/* uniform.c: splitmix64 used as a hash of the position: any thread can begin
 * anywhere, and VGG-19's 144 million weights take a fraction of a second.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "uniform.h"

enum { CHUNK = 1 << 16 }; /* even: a hash gives two numbers */

#define GOLDEN_GAMMA UINT64_C(0x9e3779b97f4a7c15)

struct fill_job {
    float *out;
    size_t count;
    uint64_t key;
    float scale;
};

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t bits_at(uint64_t key, size_t pair)
{
    return mix(key + ((uint64_t)pair + 1) * GOLDEN_GAMMA);
}

static void fill_chunk(const void *arg, size_t index)
{
    const struct fill_job *job = arg;
    size_t begin = index * CHUNK;
    size_t end = begin + CHUNK < job->count ? begin + CHUNK : job->count;
    size_t i;

    for (i = begin; i + 1 < end; i += 2) {
        uint64_t bits = bits_at(job->key, i / 2);

        job->out[i] = job->scale * (float)(int32_t)(uint32_t)bits;
        job->out[i + 1] = job->scale * (float)(int32_t)(uint32_t)(bits >> 32);
    }
    if (i < end)
        job->out[i] = job->scale * (float)(int32_t)(uint32_t)bits_at(job->key, i / 2);
}

uint64_t uniform_key(const struct uniform *uniform)
{
    return mix(uniform->seed + mix(uniform->stream + GOLDEN_GAMMA));
}

float uniform_scale(const struct uniform *uniform)
{
    return uniform->bound * 0x1p-31f;
}

void uniform_fill(struct workers *workers, float *out, size_t count, const struct uniform *uniform)
{
    struct fill_job job = {
        .out = out,
        .count = count,
        .key = uniform_key(uniform),
        .scale = uniform_scale(uniform),
    };

    workers_run(workers, (count + CHUNK - 1) / CHUNK, fill_chunk, &job);
}
