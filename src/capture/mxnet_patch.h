/* mxnet_patch.h: MXNet in a process that the recorder came late to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_PATCH_H
#define ML_MXNET_PATCH_H

#include <stdbool.h>

/* Leads MXNet's library to the hooks that it finds by itself where they stand in front.
 * May be called again. Keeps errno. @return whether MXNet is there */
bool ml_mxnet_patch(void);

/* What MXNet's storage hands out, and what its pools ask the system for. */
enum ml_mxnet_level { ML_MXNET_BLOCK, ML_MXNET_SEGMENT, ML_MXNET_LEVELS };

/* Where the recorder is late: the trace has no free without its allocation.
 * @return whether the free belongs into the trace */
void ml_mxnet_late_birth(enum ml_mxnet_level level, const void *memory);
bool ml_mxnet_late_end(enum ml_mxnet_level level, const void *memory);

#endif
