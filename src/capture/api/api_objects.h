/* api_objects.h: domains, tasks, frames, events, counters and markers of the
 * public API, for the table in api.c. memledger.h has the contracts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_API_OBJECTS_H
#define ML_API_OBJECTS_H

#include "memledger/memledger.h"

memledger_object ml_api_create(int kind, memledger_object domain, const char *name);
int ml_api_destroy(memledger_object object);
int ml_api_start(memledger_object object);
int ml_api_stop(memledger_object object);
int ml_api_counter_set(memledger_object object, uint64_t value);
int ml_api_counter_adjust(memledger_object object, int64_t delta);
int ml_api_marker(memledger_object domain, const char *name, const char *scope);

#endif
