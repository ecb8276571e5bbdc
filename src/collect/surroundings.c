/* surroundings.c: see surroundings.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "surroundings.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/timex.h>
#include <unistd.h>

#include "cgroup_memory.h"
#include "event.h"
#include "host_settings.h"
#include "io.h"

static void note_number(struct ml_dict *dict, const char *key, uint64_t number)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%" PRIu64, number);
    ml_dict_config(dict, key, digits);
}

int ml_surroundings_keep_groups(pid_t program, char ret_path[ML_GROUPS_ROOM])
{
    char path[64], text[4096];
    int from, kept = -1;
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)program);
    from = open(path, O_RDONLY | O_CLOEXEC);
    n = from >= 0 ? read(from, text, sizeof(text)) : -1;
    if (n > 0)
        kept = memfd_create("groups", MFD_CLOEXEC);
    if (kept >= 0 && ml_write_all(kept, text, (size_t)n)) {
        close(kept);
        kept = -1;
    }
    if (kept >= 0)
        snprintf(ret_path, ML_GROUPS_ROOM, "/proc/self/fd/%d", kept);
    if (from >= 0)
        close(from);
    return kept;
}

static void note_limit(struct ml_dict *dict, const char *groups)
{
    uint64_t limit = ml_cgroup_limit_bytes(groups, ML_CGROUP_MOUNTS);

    if (limit < ML_BYTES_MAX) /* version 1 has a number of this kind for none */
        note_number(dict, ML_SETTING_MEMORY_LIMIT, limit);
}

static void note_clock(struct ml_dict *dict)
{
    struct timex clock = {.modes = 0}; /* asks, changes nothing */

    if (adjtimex(&clock) >= 0 && !(clock.status & STA_UNSYNC) && clock.maxerror >= 0)
        note_number(dict, ML_SETTING_CLOCK_ERROR, (uint64_t)clock.maxerror * 1000);
}

void ml_surroundings_note(struct ml_dict *dict, const char *groups)
{
    note_limit(dict, groups);
    note_clock(dict);
}
