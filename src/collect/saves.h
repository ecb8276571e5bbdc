/* saves.h: occasions to save the recording so far to a file of its own: memory was refused, the
 * launcher got a signal, memory has grown.
 *
 * One copy is made at a time; an occasion during a copy waits for its end. After a copy because of
 * a refusal or of growth, the next for the same reason is made a minute later at the earliest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECT_SAVES_H
#define ML_COLLECT_SAVES_H

#include "collector_impl.h"

/* At the start of a round, before the clock is read: a copy that was requested by now contains
 * everything that was recorded before the request. */
void ml_collector_hear_saves(struct ml_collector *c);

/* At the end of a round: starts and ends copies. */
void ml_collector_save(struct ml_collector *c);

/* At the end: waits for the last copy. */
void ml_collector_end_saves(struct ml_collector *c);

#endif
