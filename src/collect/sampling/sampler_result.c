/* sampler_result.c: the result of a run's sampling, for the trace and the
 * closing note.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "sampler.h"

struct result {
    uint32_t pace_hz; /* the actual pace: without GPUs the host is read less often than requested */
    uint64_t taken;
    double seconds, achieved_hz, cpu_seconds;
    char gpus_unseen[ML_NVML_WHY_BYTES]; /* why no GPU was read; "": they were */
};

static bool has_ended(const struct ml_sampler *s, enum ml_sampler_lane lane)
{
    return atomic_load(&s->lanes[lane].ended);
}

static void find_result(const struct ml_sampler *s, struct result *ret)
{
    bool gpus = has_ended(s, ML_LANE_GPU) && !s->gpu.why[0];
    const struct ml_sample_lane *lane = &s->lanes[gpus ? ML_LANE_GPU : ML_LANE_HOST];

    memset(ret, 0, sizeof(*ret));
    /* The fields of a lane that hangs may be changing. */
    if (!has_ended(s, ML_LANE_GPU))
        snprintf(ret->gpus_unseen, sizeof(ret->gpus_unseen),
                 atomic_load(&s->lanes[ML_LANE_GPU].ready)
                     ? "the NVIDIA driver stopped answering"
                     : "the NVIDIA driver did not answer in time");
    else if (!gpus)
        snprintf(ret->gpus_unseen, sizeof(ret->gpus_unseen), "%s", s->gpu.why);
    for (int i = 0; i < ML_SAMPLER_LANES; i++)
        if (has_ended(s, i))
            ret->cpu_seconds += (double)s->lanes[i].cpu_ns / 1e9;
    if (!atomic_load(&lane->ended))
        return;
    ret->pace_hz = lane->pace.hz;
    ret->taken = lane->pace.taken;
    ret->seconds = (double)(lane->pace.last_ns - lane->pace.first_ns) / 1e9;
    ret->achieved_hz = ml_pace_achieved_hz(&lane->pace);
}

static void keep_number(struct ml_dict *dict, const char *key, const char *format, double value)
{
    char text[32];

    snprintf(text, sizeof(text), format, value);
    ml_dict_config(dict, key, text);
}

static void keep_gpus(const struct ml_nvml *nvml, struct ml_dict *dict)
{
    for (size_t i = 0; i < nvml->gpus.len; i++) {
        char key[48];

        snprintf(key, sizeof(key), "gpu cuda:%zu", i);
        ml_dict_config(dict, key, nvml->gpus.items[i].name);
        snprintf(key, sizeof(key), "gpu uuid cuda:%zu", i);
        ml_dict_config(dict, key, nvml->gpus.items[i].uuid);
    }
    ml_dict_config(dict, "gpu_driver", nvml->driver_version);
    if (nvml->reserve_in_used)
        ml_dict_config(dict, "gpu_used_has_reserve", "yes");
}

static void keep(const struct ml_sampler *s, const struct result *result, struct ml_dict *dict)
{
    keep_number(dict, "sample_hz", "%.0f", s->hz);
    keep_number(dict, "sample_pace_hz", "%.0f", result->pace_hz);
    keep_number(dict, "sample_taken", "%.0f", (double)result->taken);
    keep_number(dict, "sample_seconds", "%.6f", result->seconds);
    keep_number(dict, "sample_hz_achieved", "%.2f", result->achieved_hz);
    keep_number(dict, "sample_cpu_seconds", "%.6f", result->cpu_seconds);
    if (result->gpus_unseen[0])
        ml_dict_config(dict, "gpus_unseen", result->gpus_unseen);
    else
        keep_gpus(&s->gpu.nvml, dict);
}

void ml_sampler_finish(struct ml_sampler *s, struct ml_dict *dict, struct ml_session *page)
{
    struct result result;

    ml_sampler_await(s);
    find_result(s, &result);
    keep(s, &result, dict);
    page->sample_pace_hz = result.pace_hz;
    page->sample_taken = (uint32_t)ml_min_u64(result.taken, UINT32_MAX);
    page->sample_achieved_hz = result.achieved_hz;
    snprintf(page->gpus_unseen, sizeof(page->gpus_unseen), "%s", result.gpus_unseen);
}
