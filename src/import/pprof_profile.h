/* pprof_profile.h: the tables of a pprof profile: texts, functions, locations, mappings.
 *
 * A profile (profile.proto) is a protobuf message whose parts refer to each other by number, in
 * any order. It is therefore kept in memory, and its samples are read last.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PPROF_PROFILE_H
#define ML_PPROF_PROFILE_H

#include "error.h"
#include "map.h"
#include "pprof_wire.h"
#include "vec.h"

/* Field numbers of profile.proto. */
enum ml_pprof_field {
    ML_PPROF_SAMPLE_TYPE = 1,
    ML_PPROF_SAMPLE = 2,
    ML_PPROF_MAPPING = 3,
    ML_PPROF_LOCATION = 4,
    ML_PPROF_FUNCTION = 5,
    ML_PPROF_STRING = 6,
    ML_PPROF_TIME_NS = 9,
    ML_PPROF_DEFAULT_TYPE = 14,
    ML_PPROF_LAST = 15,
};

struct ml_pprof_text {
    const char *bytes;
    size_t len;
};

struct ml_pprof_type {
    uint64_t type, unit; /* texts */
};

struct ml_pprof_mapping {
    uint64_t start, end, offset, file, build_id;
};

struct ml_pprof_function {
    uint64_t name, file;
};

struct ml_pprof_line {
    uint64_t function; /* its id */
    uint64_t line;
};

struct ml_pprof_location {
    uint64_t mapping; /* its id, 0: none */
    uint64_t address;
    uint32_t first_line, lines; /* the innermost first, if calls were inlined */
};

struct ml_pprof_profile {
    struct ml_wire whole;
    ML_VEC(struct ml_pprof_text) texts;
    ML_VEC(struct ml_pprof_type) types;
    ML_VEC(struct ml_pprof_mapping) mappings;
    ML_VEC(struct ml_pprof_function) functions;
    ML_VEC(struct ml_pprof_location) locations;
    ML_VEC(struct ml_pprof_line) lines;
    struct ml_map mapping_of, function_of, location_of; /* id -> index */
    uint64_t time_ns;
    uint64_t default_type; /* a text */
};

/* @bytes  must outlive the profile
 * @ret    the caller releases it, also after a failure
 * @return 0, -EINVAL when it is damaged, -ENOMEM */
int ml_pprof_read(const uint8_t *bytes, size_t len, struct ml_pprof_profile *ret);
void ml_pprof_release(struct ml_pprof_profile *p);

/* Empty for an unknown number. */
struct ml_pprof_text ml_pprof_text(const struct ml_pprof_profile *p, uint64_t number);
bool ml_pprof_text_is(const struct ml_pprof_profile *p, uint64_t number, const char *text);

/* NULL for an unknown id. */
const struct ml_pprof_mapping *ml_pprof_mapping(const struct ml_pprof_profile *p, uint64_t id);
const struct ml_pprof_function *ml_pprof_function(const struct ml_pprof_profile *p, uint64_t id);

#endif
