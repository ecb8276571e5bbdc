/* phase.c: see phase.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "phase.h"

#include <string.h>

static const char *const names[ML_PHASES] = {
    [ML_PHASE_NONE] = "",
    [ML_PHASE_FORWARD] = "forward",
    [ML_PHASE_BACKWARD] = "backward",
    [ML_PHASE_OPTIMIZER] = "optimizer",
    [ML_PHASE_RECOMPUTE] = "recompute",
    [ML_PHASE_LOADING] = "loading",
};

enum ml_phase ml_phase_of_name(const char *name, size_t len)
{
    for (size_t i = ML_PHASE_NONE + 1; i < ML_PHASES; i++)
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
            return (enum ml_phase)i;
    return ML_PHASE_NONE;
}

const char *ml_phase_name(enum ml_phase phase)
{
    return phase < ML_PHASES ? names[phase] : "";
}
