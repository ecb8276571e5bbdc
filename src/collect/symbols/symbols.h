/* symbols.h: names for the native frames of a run, found when it is over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SYMBOLS_H
#define ML_SYMBOLS_H

#include "stage.h"

/* Defines a symbol for each frame whose function can be found, one file after
 * the other, and raises the heartbeat meanwhile.
 * @root  of the files; -1: that of this process */
void ml_symbols_define(struct ml_stage *stage, int root);

#endif
