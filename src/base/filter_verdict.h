/* filter_verdict.h: whether a seccomp filter leaves the recorder's system calls alone, and those
 * with which `memledger attach` loads it.
 *
 * A filter is a small program that the kernel runs; it decides by the number and the arguments of a
 * call. Running it here for every call that the recorder makes shows what would happen to each.
 * Most sandboxes refuse unwanted calls with an error; a process in such a sandbox can be recorded
 * as usual.
 *
 * The calls are in recorder_calls.h and injection_calls.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FILTER_VERDICT_H
#define ML_FILTER_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

struct sock_fprog;

/* True if every call passes, or fails where failure does no harm. False if one kills, traps or
 * waits, or if the outcome depends on values unknown here. Precondition: the kernel has accepted
 * the filter. Pure; no call, no lock. */
bool ml_filter_spares_recorder(const struct sock_fprog *filter);

/* The same for the calls that load the recorder into a process that already runs.
 * @ret_call  the first call that does harm, if the result is false */
bool ml_filter_spares_injection(const struct sock_fprog *filter, uint32_t *ret_call);

/* The same for the few calls of ml_session_count_sandboxed. */
bool ml_filter_lets_count(const struct sock_fprog *filter);

#endif
