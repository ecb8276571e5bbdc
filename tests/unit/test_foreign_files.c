/* test_foreign_files.c: files that another process chose: regular ones (process/regular_file.h),
 * and those below its root (process/own_root.h), those that it has mapped (process/mapped_file.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mapped_file.h"
#include "own_root.h"
#include "regular_file.h"

/* ---- A folder with files ------------------------------------------------------- */

static char folder[] = "/tmp/test-foreign-files-XXXXXX";
static int inside = -1;

static void put(const char *name, const char *text)
{
    int fd = openat(inside, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static int make_files(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    inside = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(inside >= 0);
    put("file", "text");
    put("empty", "");
    assert_int_equal(mkfifoat(inside, "fifo", 0600), 0);
    assert_int_equal(mkdirat(inside, "root", 0700), 0);
    assert_int_equal(mkdirat(inside, "root/etc", 0700), 0);
    put("root/etc/passwd", "inside");
    assert_int_equal(symlinkat("/etc/passwd", inside, "root/absolute"), 0);
    assert_int_equal(symlinkat("../file", inside, "root/up"), 0);
    return 0;
}

static int remove_files(void **state)
{
    static const char *const names[] = {"root/up", "root/absolute", "root/etc/passwd", "root/etc/",
                                        "root/",   "fifo",          "empty",           "file"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unlinkat(inside, names[i], names[i][strlen(names[i]) - 1] == '/' ? AT_REMOVEDIR : 0);
    close(inside);
    return rmdir(folder);
}

static int find(const char *name)
{
    int fd = openat(inside, name, O_PATH | O_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

static void holds(int fd, const char *text)
{
    char bytes[16] = "";

    assert_true(fd >= 0);
    assert_int_equal(pread(fd, bytes, sizeof(bytes) - 1, 0), strlen(text));
    assert_string_equal(bytes, text);
    close(fd);
}

/* ---- Kinds of files ------------------------------------------------------------ */

static void only_regular_files_are_opened(void **state)
{
    (void)state;
    holds(ml_regular_file_open(find("file"), O_RDONLY), "text");
    assert_int_equal(ml_regular_file_open(find("fifo"), O_RDONLY), -EINVAL); /* does not wait */
    assert_int_equal(ml_regular_file_open(find("fifo"), O_WRONLY), -EINVAL);
    assert_int_equal(ml_regular_file_open(find("root"), O_RDONLY), -EINVAL);
    assert_int_equal(ml_regular_file_open(-ENOENT, O_RDONLY), -ENOENT);
}

/* As another process can reach it. */
static int found_again(int fd)
{
    char path[64];
    int found;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
    found = open(path, O_PATH | O_CLOEXEC);
    assert_true(found >= 0);
    return found;
}

static void empty_memory_is_opened(void **state)
{
    int memory = memfd_create("memledger-test", MFD_CLOEXEC);
    int fd = ml_memory_file_open(found_again(memory), O_WRONLY);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "code", 4), 4);
    close(fd);
    assert_int_equal(ml_memory_file_open(found_again(memory), O_WRONLY), -EINVAL); /* not empty */
    holds(memory, "code");
}

/* The process has put another file in the place of the one in memory. */
static void swapped_files_are_refused(void **state)
{
    static const char *const names[] = {"file", "empty", "fifo", "root"};
    int swapped = memfd_create("memledger-test", MFD_CLOEXEC);
    FILE *nameless = tmpfile();

    (void)state;
    assert_true(swapped >= 0 && nameless);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        int other = find(names[i]);

        assert_int_equal(dup2(other, swapped), swapped);
        assert_int_equal(ml_memory_file_open(found_again(swapped), O_WRONLY), -EINVAL);
        close(other);
    }
    holds(ml_regular_file_open(find("file"), O_RDONLY), "text");
    assert_int_equal(dup2(fileno(nameless), swapped), swapped);
    assert_int_equal(ml_memory_file_open(found_again(swapped), O_WRONLY), -EINVAL);
    fclose(nameless);
    close(swapped);
}

/* ---- Another root -------------------------------------------------------------- */

static int openat2_error; /* what a kernel without openat2, or a filter, answers; 0: it works */

long __real_syscall(long number, ...);
long __wrap_syscall(long number, long a, long b, long c, long d);

long __wrap_syscall(long number, long a, long b, long c, long d)
{
    if (openat2_error) {
        errno = openat2_error;
        return -1;
    }
    return __real_syscall(number, a, b, c, d);
}

static bool has_openat2(int root)
{
    int fd = ml_root_open_file(root, ".", O_PATH);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void links_stay_below_the_root(void **state)
{
    int root = find("root");

    (void)state;
    if (!has_openat2(root)) {
        close(root);
        skip();
    }
    holds(ml_root_open_file(root, "/etc/passwd", O_RDONLY), "inside");
    holds(ml_root_open_file(root, "/absolute", O_RDONLY), "inside");
    holds(ml_root_open_file(root, "/../../etc/passwd", O_RDONLY), "inside");
    assert_int_equal(ml_root_open_file(root, "/up", O_RDONLY), -ENOENT);
    close(root);
}

static void another_root_needs_openat2(void **state)
{
    static const int errors[] = {ENOSYS, EPERM};
    int root = find("root"), own = ml_root_open(getpid());
    char path[64];

    (void)state;
    assert_true(own >= 0);
    snprintf(path, sizeof(path), "%s/file", folder);
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        openat2_error = errors[i];
        assert_int_equal(ml_root_open_file(root, "/up", O_RDONLY), -ENOSYS);
        assert_int_equal(ml_root_open_file(root, "/absolute", O_RDONLY), -ENOSYS);
        assert_int_equal(ml_root_open_file(root, "/etc/passwd", O_RDONLY), -ENOSYS);
        holds(ml_root_open_file(own, path, O_RDONLY), "text");
    }
    openat2_error = 0;
    close(own);
    close(root);
}

/* ---- Mapped files -------------------------------------------------------------- */

static char path_found[512];

static bool is_in_folder(const struct ml_mapping *m, void *context)
{
    if (!m->path || !strstr(m->path, folder))
        return false;
    *(struct ml_mapping *)context = *m;
    snprintf(path_found, sizeof(path_found), "%s", m->path);
    return true;
}

/* The mapping of a file in the folder. */
static struct ml_mapping find_mapping(void)
{
    struct ml_mapping m;

    assert_int_equal(ml_mappings_visit(getpid(), is_in_folder, &m), 1);
    m.name = m.path = path_found;
    return m;
}

/* With other limits, so that only its path leads to the file. */
static struct ml_mapping find_path(void)
{
    struct ml_mapping m = find_mapping();

    m.begin++;
    return m;
}

static void mappings_have_names(void **state)
{
    struct ml_mapping m;
    int variable = 0;

    (void)state;
    assert_true(ml_mapping_at(getpid(), (uintptr_t)&variable, &m));
    assert_string_equal(m.mode, "rw-p");
    assert_false(ml_mapping_at(getpid(), 0, &m));
    assert_int_equal(ml_mappings_visit(getpid(), is_in_folder, &m), 0);
    assert_int_equal(ml_mappings_visit(0x7fffffff, is_in_folder, &m), -ENOENT);
}

/* A process that may only read a file gets no help to change it; see map_page. */
static void files_are_written_if_the_process_can(void **state)
{
    static const struct {
        int how, protection, flags, result;
    } cases[] = {
        {O_RDONLY, PROT_READ, MAP_SHARED, -EROFS},
        {O_RDONLY, PROT_READ | PROT_WRITE, MAP_PRIVATE, -EROFS},
        {O_RDWR, PROT_READ | PROT_WRITE, MAP_PRIVATE, -EROFS},
        {O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int fd = openat(inside, "file", cases[i].how | O_CLOEXEC), opened;
        void *page = mmap(NULL, 4, cases[i].protection, cases[i].flags, fd, 0);
        struct ml_mapping m;

        assert_true(page != MAP_FAILED);
        m = find_mapping();
        opened = ml_mapped_file_open(getpid(), &m, O_RDWR);
        assert_int_equal(opened < 0 ? opened : 0, cases[i].result);
        if (opened >= 0)
            close(opened);
        holds(ml_mapped_file_open(getpid(), &m, O_RDONLY), "text");
        munmap(page, 4);
        close(fd);
    }
}

/* Between the look and the opening, the process maps another file at the same address. */
static void exchanged_files_are_not_written(void **state)
{
    int fd = openat(inside, "file", O_RDWR | O_CLOEXEC);
    int other = openat(inside, "root/etc/passwd", O_RDONLY | O_CLOEXEC);
    void *page = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    struct ml_mapping m = find_mapping();
    int opened;

    (void)state;
    assert_true(mmap(page, 4, PROT_READ, MAP_SHARED | MAP_FIXED, other, 0) == page);
    opened = ml_mapped_file_open(getpid(), &m, O_RDWR);
    if (opened >= 0)
        holds(opened, "text"); /* by the path, as no root */
    else
        assert_int_equal(opened, -ESTALE);
    munmap(page, 4);
    close(fd);
    close(other);
}

static void mapped_files_are_compared(void **state)
{
    int fd = openat(inside, "file", O_RDONLY | O_CLOEXEC);
    void *page = mmap(NULL, 4, PROT_READ, MAP_PRIVATE, fd, 0);
    struct ml_mapping m;

    (void)state;
    assert_true(page != MAP_FAILED);
    m = find_path();
    holds(ml_mapped_file_open(getpid(), &m, O_RDONLY), "text");
    holds(ml_mapped_file_open_at(getpid(), (uintptr_t)page, O_RDONLY), "text");
    assert_int_equal(renameat(inside, "file", inside, "kept"), 0);
    put("file", "other");
    assert_int_equal(ml_mapped_file_open(getpid(), &m, O_RDONLY), -ESTALE);
    assert_int_equal(renameat(inside, "kept", inside, "file"), 0);
    holds(ml_mapped_file_open(getpid(), &m, O_RDONLY), "text");
    munmap(page, 4);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_regular_files_are_opened),
        cmocka_unit_test(empty_memory_is_opened),
        cmocka_unit_test(swapped_files_are_refused),
        cmocka_unit_test(links_stay_below_the_root),
        cmocka_unit_test(another_root_needs_openat2),
        cmocka_unit_test(mappings_have_names),
        cmocka_unit_test(files_are_written_if_the_process_can),
        cmocka_unit_test(exchanged_files_are_not_written),
        cmocka_unit_test(mapped_files_are_compared),
    };

    return cmocka_run_group_tests(tests, make_files, remove_files);
}
