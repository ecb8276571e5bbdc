/* import_sort.h: sort any number of events by time.
 *
 * Events are collected, sorted and, when there are many, written to a temporary file in sorted
 * runs; reading merges the runs. Events with the same time stay in the order they were added.
 * Add all events first, then read them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_IMPORT_SORT_H
#define ML_IMPORT_SORT_H

#include <stdbool.h>
#include <stdint.h>

#include "event.h"
#include "vec.h"

/* The most events in memory at once. */
#define ML_IMPORT_SORT_HELD (256u << 10)

/* A sorted run of the temporary file, while it is read. */
struct ml_sort_run {
    uint64_t at, end; /* the events not yet read from the file */
    struct ml_event *held;
    uint32_t next, count; /* in `held` */
};

struct ml_import_sort {
    ML_VEC(struct ml_event) held; /* all, or those since the last run */
    bool out_of_order;            /* some of these are */
    ML_VEC(struct ml_sort_run) runs;
    ML_VEC(uint32_t) heap; /* of runs, the earliest on top */
    int fd;                /* of the temporary file, once there are runs */
    uint64_t written;      /* events in the file */
    size_t next;           /* of `held`, when there is no file */
    bool reading;
    int error; /* the first failure */
};

/* All zero bytes is a valid empty one. */
void ml_import_sort_release(struct ml_import_sort *s);

/* @return 0, or s->error */
int ml_import_sort_add(struct ml_import_sort *s, const struct ml_event *event);

/* The next in order. @return false at the end, or after a failure: see s->error */
bool ml_import_sort_next(struct ml_import_sort *s, struct ml_event *ret);

#endif
