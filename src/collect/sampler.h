/* sampler.h: ground truth beside the records: what the GPUs and the host say is
 * in use, read at a steady pace by threads of the collector. docs/sampling.md
 * says what is read how often.
 *
 * Two lanes, one for the driver and one for the host: a driver that is slow or
 * hangs costs its own values alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SAMPLER_H
#define ML_SAMPLER_H

#include "dict.h"
#include "sample_gpu.h"
#include "sample_host.h"
#include "translate.h"

#define ML_SAMPLE_HZ_MAX 10000

enum ml_sampler_lane { ML_LANE_GPU, ML_LANE_HOST, ML_SAMPLER_LANES };

struct ml_sampler {
    uint32_t hz; /* asked for */
    struct ml_sample_lane lanes[ML_SAMPLER_LANES];
    struct ml_gpu_lane gpu;
    struct ml_host_lane host;
    bool all_ended;
};

/* Starts the threads and makes their rings the stage's own. After the collector's
 * fork: threads do not survive one. Where nothing changes a GPU `may_rest`: see
 * docs/sampling.md.
 * @return NULL when it cannot */
struct ml_sampler *ml_sampler_start(uint32_t hz, bool may_rest, struct ml_stage *stage);

/* A recorded process has come, or is gone. */
void ml_sampler_watch(struct ml_sampler *s, uint32_t pid, uint32_t process);
void ml_sampler_forget(struct ml_sampler *s, uint32_t pid, uint32_t process);

/* Hands over what could not be at once. In every round of the collector. */
void ml_sampler_deliver(struct ml_sampler *s);

/* Asks the threads to end; then waits for them, but not long. */
void ml_sampler_stop(struct ml_sampler *s);
void ml_sampler_await(struct ml_sampler *s);

/* Waits likewise, then keeps how the sampling went and what the driver said of
 * itself as settings of the run, and in the page for the closing note. */
void ml_sampler_finish(struct ml_sampler *s, struct ml_dict *dict, struct ml_session *page);

/* Leaves everything where it is when a thread still runs: it may come back. */
void ml_sampler_free(struct ml_sampler *s);

#endif
