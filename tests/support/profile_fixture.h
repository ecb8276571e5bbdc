/* profile_fixture.h: a profile with names to use, in its own folder, for the tests of
 * src/collect/profile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TEST_PROFILE_FIXTURE_H
#define ML_TEST_PROFILE_FIXTURE_H

#include "dict.h"
#include "profile.h"

#define WALL_NS 1700000000000000000u /* of time 0 */
#define TID 456

struct fixture {
    char folder[64];
    char path[128]; /* the profile's file */
    struct ml_dict dict;
    struct ml_profile *profile;
    uint32_t thread, domain;
    uint64_t now_ns; /* of the events made below */
    char *text;      /* what was read last */
};

/* Setup and teardown for cmocka; *state is the struct fixture. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* A new object in the fixture's domain "dom". */
uint32_t fixture_object(struct fixture *f, uint32_t kind, const char *name);
uint32_t fixture_domain(struct fixture *f, const char *name);
uint32_t fixture_object_in(struct fixture *f, uint32_t kind, uint32_t domain, const char *name);
uint32_t fixture_space(struct fixture *f, const char *device, uint32_t level);

/* Events, each 1000 ns after the one before unless now_ns is changed. */
void fixture_event(struct fixture *f, struct ml_event ev);
void fixture_start(struct fixture *f, uint32_t object);
void fixture_stop(struct fixture *f, uint32_t object);
void fixture_count(struct fixture *f, uint32_t object, int64_t value);
void fixture_mark(struct fixture *f, const char *name, const char *scope);
/* From start to stop in `ns`. */
void fixture_duration(struct fixture *f, uint32_t object, uint64_t ns);
/* Opens the file and hands it to the profile, as a program does. */
void fixture_give_to(struct ml_profile *p, const char *path);
/* The profile of the fixture runs, with its own file. */
void fixture_run(struct fixture *f);

/* Dump, which must work. Returns the file's text, which must be valid JSON. */
const char *fixture_dump(struct fixture *f, bool finished);
const char *fixture_read(struct fixture *f);
const char *fixture_stats(struct fixture *f, bool reset, int format, int sort_by, bool ascending);

/* The first place of `part` in [text, end), or NULL. */
const char *find_in(const char *text, const char *end, const char *part);
size_t count_of(const char *text, const char *part);
void assert_has(const char *text, const char *part);
void assert_json(const char *text);

#endif
