/* api_control.h: the controlling part of the public API, for the table in
 * api.c. memledger.h has the contracts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_API_CONTROL_H
#define ML_API_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

int ml_api_set_config(int n, const char *const *keys, const char *const *vals);
int ml_api_set_state(int state, int process);
int ml_api_pause(int paused, int process);
int ml_api_dump(int finished, int process);
int ml_api_stats(const char **ret_text, int reset, int format, int sort_by, int ascending);
const char *ml_api_last_error(void);

/* Writes the trace so far. @patience_ns  see ml_request_within. @ret_path  its path, until this
 * thread's next request; "" if nothing is recorded.
 * @return 0, or -1 with the reason in ml_last_error() */
int ml_control_save(uint64_t patience_ns, const char **ret_path);

/* Whether the program's tasks, frames, events, counters and markers are recorded now: unless the
 * profiler was stopped or paused. */
bool ml_control_records(void);

/* Whether the profile runs, is not paused, and includes calls of a framework's API. */
bool ml_control_wants_calls(void);

/* Announces the settings of a forked child. Its profile does not run until the child starts it. */
extern const struct ml_recorder_part ml_control_part;

#endif
