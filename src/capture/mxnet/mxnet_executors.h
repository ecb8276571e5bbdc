/* mxnet_executors.h: nodes that MXNet's engine runs for a graph whose memory is planned (symbolic
 * executors, static CachedOps): one or several per operator of the engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_EXECUTORS_H
#define ML_MXNET_EXECUTORS_H

#include <stdbool.h>

/* Whether that operator of the engine runs such nodes, which have their own scopes. */
bool ml_mxnet_runs_executors(const void *op);

/* Whether this thread is in a scope of such a node. */
bool ml_mxnet_is_in_executor(void);

#endif
