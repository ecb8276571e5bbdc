/* profile_fixture.c: see profile_fixture.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"
#include "json_check.h"
#include "memledger/memledger.h"
#include "ring.h"
#include "varint.h"

int fixture_setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    uint64_t thread[ML_DEF_FIELDS] = {[ML_THREAD_TID] = TID};

    assert_non_null(f);
    strcpy(f->folder, "/tmp/memledger-test-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof(f->path), "%s/profile.json", f->folder);
    assert_int_equal(ml_dict_init(&f->dict), 0);
    f->thread = ml_dict_add(&f->dict, ML_DEF_THREAD, thread);
    f->domain = fixture_domain(f, "dom");
    assert_int_equal(ml_profile_new(&f->dict, WALL_NS, &f->profile), 0);
    *state = f;
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *f = *state;

    ml_profile_free(f->profile);
    ml_dict_release(&f->dict);
    unlink(f->path);
    assert_int_equal(rmdir(f->folder), 0);
    free(f->text);
    free(f);
    return 0;
}

/* ---- Names -------------------------------------------------------------- */

static uint32_t add_object(struct fixture *f, uint32_t kind, uint64_t domain_plus_one,
                           const char *name)
{
    uint64_t fields[ML_DEF_FIELDS] = {
        [ML_OBJECT_KIND] = kind,
        [ML_OBJECT_DOMAIN] = domain_plus_one,
        [ML_OBJECT_NAME] = ml_dict_cstr(&f->dict, name),
    };
    return ml_dict_add(&f->dict, ML_DEF_OBJECT, fields);
}

uint32_t fixture_domain(struct fixture *f, const char *name)
{
    return add_object(f, MEMLEDGER_DOMAIN, 0, name);
}

uint32_t fixture_object_in(struct fixture *f, uint32_t kind, uint32_t domain, const char *name)
{
    return add_object(f, kind, kind == MEMLEDGER_EVENT ? 0 : domain + 1, name);
}

uint32_t fixture_object(struct fixture *f, uint32_t kind, const char *name)
{
    return fixture_object_in(f, kind, f->domain, name);
}

uint32_t fixture_space(struct fixture *f, const char *device, uint32_t level)
{
    uint64_t fields[ML_DEF_FIELDS] = {
        [ML_SPACE_DEVICE] = ml_dict_cstr(&f->dict, device),
        [ML_SPACE_LEVEL] = level,
    };
    return ml_dict_add(&f->dict, ML_DEF_SPACE, fields);
}

/* ---- Events ------------------------------------------------------------- */

void fixture_event(struct fixture *f, struct ml_event ev)
{
    ev.time_ns = f->now_ns;
    ev.thread = f->thread;
    f->now_ns += 1000;
    if (ml_profile_active(f->profile))
        ml_profile_event(f->profile, &ev);
}

void fixture_start(struct fixture *f, uint32_t object)
{
    fixture_event(f, (struct ml_event){.kind = ML_START, .args = {object}});
}

void fixture_stop(struct fixture *f, uint32_t object)
{
    fixture_event(f, (struct ml_event){.kind = ML_STOP, .args = {object}});
}

void fixture_count(struct fixture *f, uint32_t object, int64_t value)
{
    fixture_event(f, (struct ml_event){.kind = ML_COUNTER, .args = {object, ml_zigzag(value)}});
}

void fixture_mark(struct fixture *f, const char *name, const char *scope)
{
    fixture_event(f, (struct ml_event){.kind = ML_MARKER,
                                       .args = {f->domain + 1, ml_dict_cstr(&f->dict, name),
                                                ml_dict_cstr(&f->dict, scope)}});
}

void fixture_duration(struct fixture *f, uint32_t object, uint64_t ns)
{
    fixture_start(f, object);
    f->now_ns += ns - 1000;
    fixture_stop(f, object);
}

void fixture_give_to(struct ml_profile *p, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);

    ml_profile_give_file(p, fd, fd < 0 ? errno : 0, path);
}

void fixture_run(struct fixture *f)
{
    fixture_give_to(f->profile, f->path);
    ml_profile_set_state(f->profile, ML_PROFILE_RUN, f->now_ns);
}

/* ---- Results ------------------------------------------------------------ */

const char *fixture_read(struct fixture *f)
{
    int fd = open(f->path, O_RDONLY);
    struct stat st;

    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    free(f->text);
    f->text = malloc((size_t)st.st_size + 1);
    assert_non_null(f->text);
    assert_int_equal(ml_pread_all(fd, f->text, (size_t)st.st_size, 0), 0);
    f->text[st.st_size] = '\0';
    close(fd);
    assert_json(f->text);
    return f->text;
}

const char *fixture_dump(struct fixture *f, bool finished)
{
    struct ml_error err = {0};

    if (ml_profile_dump(f->profile, finished, &err))
        fail_msg("%s", err.text);
    return fixture_read(f);
}

const char *fixture_stats(struct fixture *f, bool reset, int format, int sort_by, bool ascending)
{
    struct ml_error err = {0};
    struct ml_buf out = {0};

    if (ml_profile_stats(f->profile, reset, format, sort_by, ascending, &out, &err))
        fail_msg("%s", err.text);
    free(f->text);
    f->text = (char *)out.data;
    if (format == MEMLEDGER_JSON)
        assert_json(f->text);
    return f->text;
}

/* Not strstr: under AddressSanitizer each call measures the whole rest. */
const char *find_in(const char *text, const char *end, const char *part)
{
    size_t len = strlen(part);

    for (; (size_t)(end - text) >= len; text++) {
        text = memchr(text, part[0], (size_t)(end - text));
        if (!text || (size_t)(end - text) < len)
            return NULL;
        if (!memcmp(text, part, len))
            return text;
    }
    return NULL;
}

size_t count_of(const char *text, const char *part)
{
    const char *end = text + strlen(text);
    size_t n = 0;

    while ((text = find_in(text, end, part))) {
        text++;
        n++;
    }
    return n;
}

void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is missing in:\n%s", part, text);
}

void assert_json(const char *text)
{
    const char *error = json_error(text, strlen(text));

    if (error)
        fail_msg("no JSON from here on: %.80s", error);
}
