/* sampler.h: the memory in use according to the GPUs and the host, independent of the records,
 * read at a steady pace by threads of the collector. docs/sampling.md
 * describes what is read how often.
 *
 * There are two lanes, one for the driver and one for the host: a driver that is slow or
 * hangs delays only its own values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SAMPLER_H
#define ML_SAMPLER_H

#include "dict.h"
#include "sample_gpu.h"
#include "sample_host.h"
#include "stage.h"

#define ML_SAMPLE_HZ_MAX 10000

enum ml_sampler_lane { ML_LANE_GPU, ML_LANE_HOST, ML_SAMPLER_LANES };

struct ml_sampler {
    uint32_t hz; /* requested */
    struct ml_sample_lane lanes[ML_SAMPLER_LANES];
    struct ml_gpu_lane gpu;
    struct ml_host_lane host;
    bool all_ended;
};

/* Starts the threads and adds their rings to the stage. Call it after the collector's
 * fork: threads do not survive one. With `may_rest` a GPU on which nothing changes is read
 * less often: see docs/sampling.md.
 * @program  the process to be recorded, if it is known already; it may run before and after
 * @return NULL on failure */
struct ml_sampler *ml_sampler_start(uint32_t hz, bool may_rest, uint32_t program,
                                    struct ml_stage *stage);

/* A recorded process has started or ended. */
void ml_sampler_watch(struct ml_sampler *s, uint32_t pid, uint32_t process);
void ml_sampler_forget(struct ml_sampler *s, uint32_t pid, uint32_t process);

/* Hands over what could not be handed over at once. Call it in every round of the collector. */
void ml_sampler_deliver(struct ml_sampler *s);

/* Asks the threads to end; then waits for them, but not long. */
void ml_sampler_stop(struct ml_sampler *s);
void ml_sampler_await(struct ml_sampler *s);

/* Waits likewise, then stores the result of the sampling and the driver's description of
 * itself as settings of the run, and in the page for the closing note. */
void ml_sampler_finish(struct ml_sampler *s, struct ml_dict *dict, struct ml_session *page);

/* Frees nothing while a thread still runs: its call may return. */
void ml_sampler_free(struct ml_sampler *s);

#endif
