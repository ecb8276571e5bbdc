/* chrome_gauges.h: curves of a Chrome trace: groups of values over time, thinned so that
 * viewers can open the file of a long run.
 *
 * The run is cut into ML_CHROME_BUCKETS equal parts. Of each part a gauge writes the point
 * with the highest sum and the last one, so that no peak is lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_CHROME_GAUGES_H
#define ML_EXPORT_CHROME_GAUGES_H

#include "chrome_writer.h"
#include "map.h"
#include "vec.h"

#define ML_CHROME_BUCKETS 20000
#define ML_GAUGE_VALUES 13 /* at least ML_CATEGORIES */

struct ml_gauge_point {
    uint64_t time_ns, sum;
    uint64_t values[ML_GAUGE_VALUES];
};

/* One title in one process. */
struct ml_chrome_gauge {
    const char *device; /* the title is "DEVICE WHAT" */
    const char *what;
    uint32_t pid;
    const char *const *names; /* of the values */
    size_t count;
    bool pending;                     /* a part has points that are not written yet */
    uint64_t bucket;                  /* that part */
    struct ml_gauge_point high, last; /* in it */
    bool seen[ML_GAUGE_VALUES];       /* a value that was always 0 is not written */
};

struct ml_chrome_gauges {
    struct ml_chrome *chrome;
    uint64_t bucket_ns;
    ML_VEC(struct ml_chrome_gauge) list;
    struct ml_map index; /* the caller's key -> index */
};

void ml_chrome_gauges_init(struct ml_chrome_gauges *gauges, struct ml_chrome *chrome);
void ml_chrome_gauges_release(struct ml_chrome_gauges *gauges);

/* The gauge of a key, created from `like` if there is none; valid until the next call. @return
 * NULL: out of memory */
struct ml_chrome_gauge *ml_chrome_gauge(struct ml_chrome_gauges *gauges, uint64_t key,
                                        const struct ml_chrome_gauge *like);

/* Sets the values from this time on. */
void ml_chrome_gauge_set(struct ml_chrome_gauges *gauges, struct ml_chrome_gauge *gauge,
                         uint64_t time_ns, const uint64_t *values);

/* Writes pending points. */
void ml_chrome_gauges_flush(struct ml_chrome_gauges *gauges);

#endif
