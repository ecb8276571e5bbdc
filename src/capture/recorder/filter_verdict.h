/* filter_verdict.h: whether a seccomp filter leaves the recorder's system calls alone.
 *
 * A filter is a small program for the kernel, which decides by the number of a call and its
 * arguments. Run here for every call that the recorder makes, it tells what would become of
 * each. Most sandboxes refuse what they do not want with an error; a process in such a one
 * can be recorded as usual.
 *
 * The calls are in recorder_calls.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FILTER_VERDICT_H
#define ML_FILTER_VERDICT_H

#include <stdbool.h>

struct sock_fprog;

/* True when every call goes through, or fails where failing does no harm. False when one
 * kills, traps or waits, and when that depends on more than is known here.
 * Precondition: the kernel has accepted the filter. Pure; no call, no lock. */
bool ml_filter_spares_recorder(const struct sock_fprog *filter);

/* The same for the few calls of ml_session_count_sandboxed. */
bool ml_filter_lets_count(const struct sock_fprog *filter);

#endif
