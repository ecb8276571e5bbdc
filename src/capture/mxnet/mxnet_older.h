/* mxnet_older.h: MXNet's memory that is older than the recording.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_OLDER_H
#define ML_MXNET_OLDER_H

#include <stdbool.h>

/* Puts all hooks in place if MXNet is loaded, even if nothing is recorded yet: allocations that are
 * under way are over when the recording begins. Keeps errno. @return whether the build is known */
bool ml_mxnet_prepare(void);

/* Records the blocks of an array, unless the recording has them. Call when each of them has been
 * there for a moment: one that an engine thread is allocating is recorded by that thread.
 * @array  the NDArrayHandle of an existing array
 * @return how many it recorded */
unsigned ml_mxnet_seed(const void *array);

#endif
