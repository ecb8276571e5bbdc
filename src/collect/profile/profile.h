/* profile.h: the profile file and the aggregate statistics of one process.
 *
 * The collector does the work of MXNet's profiler:
 * the process's tasks, frames, events, counters and markers, and its memory by
 * device, go into a Chrome trace file that is valid JSON after every dump, and
 * into a table of counts, totals, minima and maxima. docs/api.md has the keys,
 * defaults and layouts.
 *
 * Calls come in the order of the process's events. A process that never asked for a profile
 * does not pay for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROFILE_H
#define ML_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "dict.h"
#include "error.h"
#include "event.h"
#include "vec.h"

struct ml_profile;

/* The profile of one process, stopped, with default settings and without a file. The
 * dictionary must outlive it. `start_wall_ns` is the wall-clock time of time 0. The caller
 * owns *ret. @return 0 or -ENOMEM */
int ml_profile_new(const struct ml_dict *dict, uint64_t start_wall_ns, struct ml_profile **ret);

/* Ends the file properly if it is open. NULL is fine. */
void ml_profile_free(struct ml_profile *p);

/* Sets a key that the recorder has checked. Unknown keys (see config_keys.h) are ignored:
 * targets are not trusted. Another "filename" ends the file; the target has to pass the file of
 * that name. */
void ml_profile_set_config(struct ml_profile *p, const char *key, const char *value);

/* The file that the process opened for the profile; see ml_profile_file_take. */
void ml_profile_give_file(struct ml_profile *p, int fd, int error, const char *path);

/* Whether it has no file. With `running` only if it runs, or has data to dump. */
bool ml_profile_lacks_file(const struct ml_profile *p, bool running);

/* enum ml_profile_state of ring.h. */
void ml_profile_set_state(struct ml_profile *p, uint32_t state, uint64_t time_ns);

/* Whether events are wanted: running, paused or not (memory is still counted while
 * it is paused). */
bool ml_profile_active(const struct ml_profile *p);

/* Whether it runs, is not paused, and records the calls of a framework's API. */
bool ml_profile_wants_calls(const struct ml_profile *p);

/* Which operators a profile leaves out. */
enum ml_operator_flags {
    ML_OPERATOR_IMPERATIVE = 1, /* called by the program, not a node of a graph */
    ML_OPERATOR_EARLY = 2,      /* submitted before the profile ran */
};

/* One event of this process, in file numbers; any kind. Counter events carry
 * the value after the change; a push has enum ml_operator_flags as its first argument. */
void ml_profile_event(struct ml_profile *p, const struct ml_event *ev);

/* Called now and then with the time: a continuous dump when its period is over. */
void ml_profile_tick(struct ml_profile *p, uint64_t time_ns);

/* Writes everything so far. -ESRCH if the profile never ran. A finished file stays
 * as it is, which is not an error. */
int ml_profile_dump(struct ml_profile *p, bool finished, struct ml_error *err);

/* Appends the statistics as text to `out`: format, sort and ascending as in
 * memledger.h. Brings the file up to date first, as a dump would, but ends
 * nothing. */
int ml_profile_stats(struct ml_profile *p, bool reset, int format, int sort_by, bool ascending,
                     struct ml_buf *out, struct ml_error *err);

#endif
