/* surroundings.c: see surroundings.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "surroundings.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/timex.h>

#include "cgroup_memory.h"
#include "event.h"
#include "host_settings.h"

static void note_number(struct ml_dict *dict, const char *key, uint64_t number)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%" PRIu64, number);
    ml_dict_config(dict, key, digits);
}

static void note_limit(struct ml_dict *dict)
{
    uint64_t limit = ml_cgroup_limit_bytes(ML_CGROUP_OF_THIS_PROCESS, ML_CGROUP_MOUNTS);

    if (limit < ML_BYTES_MAX) /* version 1 has a number of this kind for none */
        note_number(dict, ML_SETTING_MEMORY_LIMIT, limit);
}

static void note_clock(struct ml_dict *dict)
{
    struct timex clock = {.modes = 0}; /* asks, changes nothing */

    if (adjtimex(&clock) >= 0 && !(clock.status & STA_UNSYNC) && clock.maxerror >= 0)
        note_number(dict, ML_SETTING_CLOCK_ERROR, (uint64_t)clock.maxerror * 1000);
}

void ml_surroundings_note(struct ml_dict *dict)
{
    note_limit(dict);
    note_clock(dict);
}
