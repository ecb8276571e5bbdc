/* band_processes.h: the processes that have their own band: those with the highest peaks, in the
 * order of their first event. Only the bands include it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_BAND_PROCESSES_H
#define ML_ANALYZE_BAND_PROCESSES_H

#include "bands.h"
#include "replay.h"

struct ml_band_processes {
    size_t count;                      /* bands */
    bool has_rest;                     /* the last one is for all others */
    uint32_t of_process[ML_BANDS_MAX]; /* by band: the process's number in the trace */
    ML_VEC(uint8_t) band_of;           /* by process of a replay */
    uint64_t bytes[ML_BANDS_MAX];      /* at present */
};

/* @end  has the peaks of all processes. @return 0 or -ENOMEM; release in both cases */
int ml_band_processes_init(struct ml_band_processes *p, const struct ml_replay *end);
void ml_band_processes_release(struct ml_band_processes *p);

/* Starts with the bytes of a replay of the same trace. */
void ml_band_processes_count(struct ml_band_processes *p, const struct ml_replay *replay);

/* Call it for each change of the totals, see `on_bytes` of ml_replay. */
static inline void ml_band_processes_add(struct ml_band_processes *p, uint32_t process,
                                         uint64_t change)
{
    p->bytes[p->band_of.items[process]] += change;
}

/* Fills in the names of the bands. @return 0 or -ENOMEM */
int ml_band_processes_name(const struct ml_band_processes *p, const struct ml_replay *end,
                           struct ml_bands *ret);

#endif
