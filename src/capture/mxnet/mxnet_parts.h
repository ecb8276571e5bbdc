/* mxnet_parts.h: shows which of several functions runs that MXNet's engine runs as one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_PARTS_H
#define ML_MXNET_PARTS_H

#include <stdbool.h>

#include "mxnet_layout.h"

/* Call before the first other call. */
void ml_mxnet_parts_begin(const struct ml_mxnet_layout *layout);

/* Makes the std::function, and each copy of it, call ml_mxnet_begin_part before it runs, and pop
 * afterwards if that returned true.
 * @return false: there are too many kinds */
bool ml_mxnet_watch_part(void *function);

/* In mxnet_works.c: a scope for the part, if needed. @return whether there is one */
bool ml_mxnet_begin_part(void);

#endif
