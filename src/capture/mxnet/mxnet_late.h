/* mxnet_late.h: which recording has the allocation of what MXNet holds.
 *
 * A process that the recorder came late to may be recorded several times, and its threads
 * go on meanwhile. What was recorded into one recording ends there or nowhere; a trace that
 * lost no event has no free without its allocation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_LATE_H
#define ML_MXNET_LATE_H

#include <stdint.h>

/* What MXNet's storage hands out, and what its pools ask the system for. */
enum ml_mxnet_level { ML_MXNET_BLOCK, ML_MXNET_SEGMENT, ML_MXNET_LEVELS };

/* The allocation was this thread's last record. */
void ml_mxnet_late_birth(enum ml_mxnet_level level, const void *memory);

/* @return the recording that the free belongs into (ml_record_in); 0: into none */
uint32_t ml_mxnet_late_end(enum ml_mxnet_level level, const void *memory);

#endif
