/* mxnet_parts.h: to see which of several functions runs that MXNet's engine runs as one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_PARTS_H
#define ML_MXNET_PARTS_H

#include <stdbool.h>

#include "mxnet_layout.h"

/* Before the first other call. */
void ml_mxnet_parts_begin(const struct ml_mxnet_layout *layout);

/* The std::function, and each copy of it, will call ml_mxnet_begin_part before it runs,
 * and pop when it has, where that says so.
 * @return false: it will not, there are too many sorts */
bool ml_mxnet_watch_part(void *function);

/* In mxnet_works.c: a scope for the part, where one is wanted. @return whether it is */
bool ml_mxnet_begin_part(void);

#endif
