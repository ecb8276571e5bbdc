/* new_modules.h: PyTorch's modules that got a parameter, a buffer or a child since the names were
 * last given. They are named together, when the tree around them is complete.
 *
 * For threads that hold Python's lock. Modules are held weakly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NEW_MODULES_H
#define ML_NEW_MODULES_H

#include "native.h"

/* Calls the package's function that names them, if there are any. An interrupt that arrived
 * meanwhile stays set. */
void ml_new_modules_name(void);

#endif
