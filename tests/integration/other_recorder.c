/* other_recorder.c: a recorder of another version, which refuses every session. The environment
 * says with which error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attached.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int32_t memledger_attach_v1(const char *text)
{
    const char *answer = getenv("OTHER_RECORDER_ANSWERS");

    (void)text;
    return answer && !strcmp(answer, "EPROTO") ? -EPROTO : -EIO;
}
