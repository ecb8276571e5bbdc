/* profile_records.c: the code that all records of a profile share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile_parts.h"

uint32_t ml_profile_tid(const struct ml_profile *p, uint32_t thread)
{
    const struct ml_def *def = ml_dict_get(p->dict, ML_DEF_THREAD, thread);

    return def ? (uint32_t)def->fields[ML_THREAD_TID] : 0;
}

void ml_profile_count(struct ml_profile *p, int64_t track, int64_t value)
{
    if (p->on[ML_CONFIG_AGGREGATE_STATS])
        ml_profile_track_add(&p->tracks.tracks.items[track], value);
}

/* Fills in the fields that follow from the track, after the category's process has a name
 * in the file. */
struct ml_profile_record ml_profile_record_on(struct ml_profile *p, int64_t track, uint64_t time_ns,
                                              uint32_t tid)
{
    const struct ml_profile_track *t = &p->tracks.tracks.items[track];
    struct ml_profile_category *c = &p->tracks.categories.items[t->category];

    if (c->announced != p->file.generation) {
        /* First, so that a failed write which raises the generation is seen. */
        c->announced = p->file.generation;
        ml_profile_file_put_process(&p->file, c->json, c->pid);
    }
    return (struct ml_profile_record){
        .name = t->json,
        .category = c->json,
        .time_us = (p->start_wall_ns + time_ns) / 1000,
        .pid = c->pid,
        .tid = tid,
    };
}

void ml_profile_put_pair(struct ml_profile *p, struct ml_profile_record r, const char phases[2],
                         uint64_t end_ns)
{
    r.phase = phases[0];
    ml_profile_file_put(&p->file, &r);
    r.phase = phases[1];
    r.time_us = (p->start_wall_ns + end_ns) / 1000;
    ml_profile_file_put(&p->file, &r);
}

void ml_profile_put_value(struct ml_profile *p, int64_t track, uint64_t time_ns, uint32_t tid,
                          int64_t value)
{
    struct ml_profile_record r = ml_profile_record_on(p, track, time_ns, tid);

    r.phase = 'C';
    r.extra = ML_EXTRA_VALUE;
    r.value = value;
    ml_profile_file_put(&p->file, &r);
}
