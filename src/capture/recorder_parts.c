/* recorder_parts.c: the rooms that have state to announce: see recorder_parts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recorder_parts.h"

#include <stddef.h>

#include "api_control.h"
#include "stack.h"

const struct ml_recorder_part *const ml_recorder_parts[] = {
    &ml_stack_part,
    &ml_control_part,
    NULL,
};
