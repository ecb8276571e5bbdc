/* test_elf_symbols.c: functions by address: with and without sizes, with and without a full
 * table; files that have changed.
 *
 *     test_elf_symbols FIXTURE STRIPPED BUILD-ID
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_symbols.h"
#include "io.h"
#include "vec.h"

#define QUERIES 8

static char *fixture, *stripped; /* absolute paths */
static const char *build_id;
static uint64_t code; /* where its known code begins */

static char names[QUERIES][64];
static unsigned beats;

static void keep(void *ctx, const struct ml_elf_query *query)
{
    (void)ctx;
    snprintf(names[query->tag], sizeof(names[0]), "%s", query->name);
}

static void count_beat(void *ctx)
{
    (void)ctx;
    beats++;
}

/* Looks offsets of the known code up, which rise. */
static void look_up(const char *path, const char *id, const unsigned *offsets, size_t n)
{
    struct ml_elf_query queries[QUERIES];

    memset(names, 0, sizeof(names));
    for (size_t i = 0; i < n; i++)
        queries[i] = (struct ml_elf_query){.address = code + offsets[i], .tag = (uint32_t)i};
    ml_elf_symbols(-1, path, id, queries, n, keep, count_beat, NULL);
}

#define LOOK_UP(path, id, ...)                                                                     \
    look_up(path, id, (const unsigned[]){__VA_ARGS__},                                             \
            sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

static void functions_with_sizes_hold_their_bytes(void **state)
{
    (void)state;
    LOOK_UP(fixture, build_id, 0, 15, 16, 31, 32, 47);
    assert_string_equal(names[0], "fixture_sized");
    assert_string_equal(names[1], "fixture_sized");
    assert_string_equal(names[2], "fixture_local");
    assert_string_equal(names[3], "fixture_local");
    assert_string_equal(names[4], ""); /* behind its end */
    assert_string_equal(names[5], "");
    assert_true(beats > 0);
}

static void those_without_reach_to_the_next(void **state)
{
    (void)state;
    LOOK_UP(fixture, build_id, 48, 50, 63, 64, 70, 87, 88, 95);
    for (int i = 0; i < 3; i++)
        assert_string_equal(names[i], "fixture_label");
    assert_string_equal(names[3], "fixture_next");
    assert_string_equal(names[4], "fixture_next");
    assert_string_equal(names[5], "fixture_outer");
    assert_string_equal(names[6], "fixture_outer"); /* the label is inside of it */
    assert_string_equal(names[7], "fixture_outer");
    LOOK_UP(fixture, build_id, 62);
    assert_string_equal(names[0], "fixture_label");
    LOOK_UP(fixture, build_id, 1u << 28); /* behind everything */
    assert_string_equal(names[0], "");
}

static void without_a_full_table_what_is_exported_is_known(void **state)
{
    (void)state;
    LOOK_UP(stripped, build_id, 3, 20);
    assert_string_equal(names[0], "fixture_sized");
    assert_string_equal(names[1], "");
}

static void another_file_gives_no_names(void **state)
{
    (void)state;
    LOOK_UP(fixture, "0123456789", 3);
    assert_string_equal(names[0], "");
    LOOK_UP(fixture, "", 3);
    assert_string_equal(names[0], "");
    LOOK_UP("no/such/file", build_id, 3);
    LOOK_UP("/no/such/file", build_id, 3);
    LOOK_UP("/", build_id, 3);
    LOOK_UP("/dev/null", "", 3);
    LOOK_UP("", "", 3);
    assert_string_equal(names[0], "");
}

/* Opening it would wait for a writer. */
static void a_pipe_is_not_opened(void **state)
{
    char folder[] = "/tmp/test_elf_symbols-XXXXXX", path[64];
    int opened = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    struct inotify_event event;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_true(inotify_add_watch(opened, path, IN_OPEN) >= 0);
    LOOK_UP(path, "", 3);
    assert_string_equal(names[0], "");
    assert_int_equal(read(opened, &event, sizeof(event)), -1); /* not even for a moment */
    close(opened);
    unlink(path);
    rmdir(folder);
}

static void write_copy(const char *path, const struct ml_buf *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(ml_write_all(fd, bytes->data, len), 0);
    close(fd);
}

static void read_fixture(struct ml_buf *ret)
{
    int fd = open(fixture, O_RDONLY | O_CLOEXEC);
    struct stat st;

    assert_true(fd >= 0 && !fstat(fd, &st));
    assert_int_equal(ml_buf_reserve(ret, (size_t)st.st_size), 0);
    assert_int_equal(ml_pread_all(fd, ret->data, (size_t)st.st_size, 0), 0);
    ret->len = (size_t)st.st_size;
    close(fd);
}

/* They are harmless; whether they still give names is no matter. */
static void damaged_files_do_no_harm(void **state)
{
    char path[] = "/tmp/test_elf_symbols-XXXXXX";
    int fd = mkstemp(path);
    uint32_t random = 1;
    struct ml_buf bytes = {0};

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    read_fixture(&bytes);
    for (size_t len = 0; len < bytes.len; len += bytes.len / 61) {
        write_copy(path, &bytes, len);
        LOOK_UP(path, build_id, 3, 20, 50);
    }
    for (int i = 0; i < 300; i++) {
        /* The headers of file and sections, then anywhere. */
        size_t range = i % 3 == 0 ? 64 : i % 3 == 1 ? 64 * 40 : bytes.len;
        uint8_t *byte = &bytes.data[bytes.len - 1 - (random >> 8) % range];
        uint8_t was;

        byte = i % 3 == 0 ? &bytes.data[(random >> 8) % 64] : byte;
        was = *byte;
        *byte ^= (uint8_t)(1 + (random >> 4) % 255);
        write_copy(path, &bytes, bytes.len);
        LOOK_UP(path, build_id, 3, 20, 50);
        *byte = was;
        random = random * 1664525u + 1013904223u;
    }
    ml_buf_release(&bytes);
    unlink(path);
}

static void find_code(void)
{
    void *library = dlopen(fixture, RTLD_NOW);
    const void *(*where)(void);
    Dl_info info;

    if (!library)
        exit(2);
    *(void **)&where = dlsym(library, "fixture_code");
    if (!where || !dladdr(*(void **)&where, &info))
        exit(2);
    code = (uint64_t)((const char *)where() - (const char *)info.dli_fbase);
    dlclose(library);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_with_sizes_hold_their_bytes),
        cmocka_unit_test(those_without_reach_to_the_next),
        cmocka_unit_test(without_a_full_table_what_is_exported_is_known),
        cmocka_unit_test(another_file_gives_no_names),
        cmocka_unit_test(a_pipe_is_not_opened),
        cmocka_unit_test(damaged_files_do_no_harm),
    };
    int failed;

    if (argc != 4)
        return 2;
    fixture = realpath(argv[1], NULL);
    stripped = realpath(argv[2], NULL);
    build_id = argv[3];
    if (!fixture || !stripped)
        return 2;
    find_code();
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(fixture);
    free(stripped);
    return failed;
}
