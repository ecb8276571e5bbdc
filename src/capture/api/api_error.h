/* api_error.h: texts that the public API returns to a thread: why its last call failed, and the
 * statistics that it asked for.
 *
 * Texts are in separate pages, not in thread-local storage, of which a library that is loaded late
 * gets very little. The page of a thread that ended goes to the next one that needs it.
 * Async-signal-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_API_ERROR_H
#define ML_API_ERROR_H

#include <stddef.h>

#define ML_ERROR_BYTES 2048

/* Stores the concatenated parts as this thread's last error; a long part is cut so that the others
 * remain visible. Keeps errno. @return -1 */
#define ml_fail(...) ml_fail_parts(__VA_ARGS__, (const char *)NULL)
int ml_fail_parts(const char *first, ...);

/* The same for a call that a sandbox (filtered.h) prevents. @return -1 */
int ml_fail_in_sandbox(void);

/* "" when no call of this thread failed. */
const char *ml_last_error(void);

/* Room for `bytes` bytes that this thread may use until its next call of this function; NULL when
 * there is none. */
char *ml_thread_text(size_t bytes);

#endif
