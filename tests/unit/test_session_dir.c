/* test_session_dir.c: the session's folder of a target that already runs (collect/session_dir.h)
 * stays the one that was made, even if the target puts another in its place.
 *
 * getrandom is wrapped: it is called between the creation of the folder and that of the files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session_dir.h"

static char parent[] = "/tmp/test-session-dir-XXXXXX";

/* The first entry whose name begins so. */
static void find_entry(const char *begin, char *ret, size_t room)
{
    DIR *all = opendir(parent);
    struct dirent *entry;

    assert_non_null(all);
    *ret = '\0';
    while (!*ret && (entry = readdir(all)))
        if (!strncmp(entry->d_name, begin, strlen(begin)))
            snprintf(ret, room, "%s/%s", parent, entry->d_name);
    closedir(all);
}

static void name_in(const char *folder, char *ret, size_t room)
{
    snprintf(ret, room, "%s/%s", parent, folder);
}

ssize_t __wrap_getrandom(void *ret, size_t room, unsigned flags);

/* Moves the folder away, and leaves a link to another one. */
ssize_t __wrap_getrandom(void *ret, size_t room, unsigned flags)
{
    char session[512], moved[512];

    (void)flags;
    find_entry("memledger-", session, sizeof(session));
    name_in("moved", moved, sizeof(moved));
    assert_true(*session);
    assert_int_equal(rename(session, moved), 0);
    assert_int_equal(symlink("elsewhere", session), 0);
    memset(ret, 1, room);
    return (ssize_t)room;
}

static void a_link_leads_nowhere(void **state)
{
    static const char *const names[] = {ML_SESSION_PAGE, ML_SESSION_SOCKET, ML_SESSION_FILES};
    struct ml_session_opts opts = {.target = getpid(), .parent = parent, .ring_bytes = 1 << 16};
    struct ml_session_dir session;
    struct ml_error err = {0};
    char elsewhere[512], moved[512], path[1024];

    (void)state;
    assert_non_null(mkdtemp(parent));
    name_in("elsewhere", elsewhere, sizeof(elsewhere));
    name_in("moved", moved, sizeof(moved));
    assert_int_equal(mkdir(elsewhere, 0700), 0);
    assert_int_equal(ml_session_dir_init(&session, &opts, &err), 0);
    assert_int_equal(rmdir(elsewhere), 0); /* is empty */
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", moved, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(moved), 0);
    assert_int_equal(unlink(session.path), 0);
    ml_session_dir_release(&session);
    assert_int_equal(rmdir(parent), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_leads_nowhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
