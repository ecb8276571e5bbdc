/* tracked.h: parameters and buffers of the called modules. They keep their names when they
 * move, and their gradients get names too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACKED_H
#define ML_TRACKED_H

#include "native.h"

#include <stdbool.h>

/* Labels the tensors that moved since the last check. */
void ml_tracked_check(void);

/* Labels the gradients that parameters have now. Once several threads run backward, only those of
 * models that no other thread has called (model_threads.h). */
void ml_tracked_label_gradients(void);

#endif
