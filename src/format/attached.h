/* attached.h: what `memledger attach` and `memledger detach` call in the process, on a thread that
 * they have made.
 *
 * In a Python program the package does it, on the main thread, so that modules have names and
 * existing tensors are found; see python/memledger/_attached.py. Otherwise, if that fails, or if
 * the main thread does not come to it within seconds, the recorder does it alone. The package then
 * adds names and existing tensors when the main thread comes to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ATTACHED_H
#define ML_ATTACHED_H

#include <stdint.h>

#define ML_ATTACH_NAME "memledger_attach_v1"
#define ML_DETACH_NAME "memledger_detach_v1"

enum ml_attached {
    ML_ATTACHED,
    ML_ATTACHED_NAMELESS,    /* without the names that Python knows */
    ML_ATTACHED_NAMES_LATER, /* they follow when Python's main thread goes on */
};

/* @text  lines: the session's folder, the recorder's library, the folder of the Python package (may
 *        be empty), the path of the trace
 * @return enum ml_attached, or a negative errno: -EALREADY, an earlier call has not returned;
 *         -ETIMEDOUT, the collector has ended meanwhile; others as of ml_recorder_join */
int32_t memledger_attach_v1(const char *text);

/* @return 0, or -ESRCH: it was not recorded */
int32_t memledger_detach_v1(const char *text);

#endif
