/* collector_progress.h: what the collector tells launcher and targets through the session page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECTOR_PROGRESS_H
#define ML_COLLECTOR_PROGRESS_H

#include "collector_impl.h"

/* Says which process we are: targets check it when we show no sign of life. */
void ml_collector_introduce(struct ml_collector_id *id);

/* The number of targets that still run. */
uint32_t ml_collector_running(const struct ml_collector *c);

/* Publishes the counts of events, losses and processes. */
void ml_collector_publish(struct ml_collector *c);

/* The same after the file was closed, with facts about the whole trace. */
void ml_collector_publish_end(struct ml_collector *c);

/* Writes into the trace which notices processes have printed: at once, so that they are kept if the
 * collector is killed. */
void ml_collector_note_left_alone(struct ml_collector *c);

#endif
