/* tracked.h: parameters and buffers of the modules that were called, which keep
 * their names wherever they move, and whose gradients have names too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACKED_H
#define ML_TRACKED_H

#include "native.h"

/* Labels those that moved since they were last looked at. */
void ml_tracked_check(void);

/* Labels the gradients that parameters have now. */
void ml_tracked_label_gradients(void);

#endif
