/* job_place.h: where this process is in a distributed job, as its launcher told it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_JOB_PLACE_H
#define ML_JOB_PLACE_H

#include <stddef.h>
#include <stdint.h>

/* Writes "rank=3 world_size=8 … launcher=torchrun job=4711", which is "" outside of a job. Values
 * are cut, and characters that would end one are replaced.
 * @return 1 + the rank; 0: no launcher gave one */
uint32_t ml_job_place(char *out, size_t room);

#endif
