/* memory_limit.c: see memory_limit.h.
 *
 * RLIMIT_DATA counts private writable memory of every library: our own tables,
 * SQLite's, zstd's. It does not count mapped files, as RLIMIT_AS would.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "memory_limit.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_memory.h"
#include "compiler.h"
#include "text.h"

#define GIB (UINT64_C(1) << 30)
#define LARGE_BYTES (1 << 20)

/* How the limit was computed. */
enum reason { BY_SIZE, BY_MACHINE, BY_OPTION };

static struct {
    const char *path; /* the file that was named last */
    unsigned files;
    uint64_t file_bytes; /* of all */
    uint64_t limit_bytes;
    uint64_t before_bytes; /* of the process before the limit was set */
    enum reason reason;
    bool set; /* the kernel enforces it */
} memory;

/* Private writable memory now, with the stack; 0: unknown. */
static uint64_t data_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long long pages = 0;

    if (!file)
        return 0;
    if (fscanf(file, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
        pages = 0;
    fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t machine_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);

    return pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : UINT64_MAX;
}

/* Adds the file's size. @return false: it has none, a pipe */
static bool add_file(const char *path)
{
    struct stat st;
    int r = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(path, &st);

    memory.path = strcmp(path, "-") == 0 ? "standard input" : path;
    memory.files++;
    if (r < 0 || !S_ISREG(st.st_mode))
        return false;
    memory.file_bytes = ml_sum_u64(memory.file_bytes, (uint64_t)st.st_size);
    return true;
}

/* By the sizes of the files, but never more than the machine has, or the container or job of
 * this process; for a pipe that maximum. */
static void choose_default(bool sized)
{
    uint64_t machine =
        ml_min_u64(ml_max_u64(machine_bytes(), ML_MEMORY_LEAST_BYTES),
                   ml_cgroup_limit_bytes(ML_CGROUP_OF_THIS_PROCESS, ML_CGROUP_MOUNTS));
    uint64_t by_size = machine;

    if (sized && memory.file_bytes < machine / ML_MEMORY_PER_FILE_BYTE)
        by_size = ML_MEMORY_LEAST_BYTES + memory.file_bytes * ML_MEMORY_PER_FILE_BYTE;
    memory.reason = by_size < machine ? BY_SIZE : BY_MACHINE;
    memory.limit_bytes = ml_min_u64(by_size, machine);
}

/* Lower limits of the user stay, and are not ours to explain. */
static bool set_limit(uint64_t bytes)
{
    struct rlimit data, space;

    if (getrlimit(RLIMIT_DATA, &data) < 0 || getrlimit(RLIMIT_AS, &space) < 0 ||
        data.rlim_max < bytes || space.rlim_cur < bytes)
        return false;
    if (!memory.set && data.rlim_cur < bytes)
        return false;
    data.rlim_cur = bytes;
    return setrlimit(RLIMIT_DATA, &data) == 0;
}

/* Returns large tables to the kernel when they are freed, so that the next pass over a
 * trace does not add to the last. By default glibc keeps up to 32 MiB each. */
static void begin(void)
{
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    memory.before_bytes = data_bytes();
}

void ml_memory_limit(const char *path, uint64_t asked)
{
    bool sized = add_file(path);

    if (memory.files == 1)
        begin();
    if (asked) {
        memory.reason = BY_OPTION;
        memory.limit_bytes = asked;
    } else {
        choose_default(sized);
    }
    memory.set = set_limit(ml_sum_u64(memory.limit_bytes, memory.before_bytes));
}

static void explain_size(const char *limit, uint64_t more_gib, struct ml_error *err)
{
    char size[32], whose[48] = "its size";

    if (memory.files > 1)
        snprintf(whose, sizeof(whose), "the size of all %u files", memory.files);
    ml_error_set(err, -ENOMEM,
                 "%s: needs more than %s of memory to read, far more than %s (%s) suggests: it "
                 "may be damaged; use --max-memory %" PRIu64 "GiB to read it anyway",
                 memory.path, limit, whose,
                 ml_format_bytes(size, (int64_t)memory.file_bytes, ML_UNIT_AUTO), more_gib);
}

void ml_memory_explain(struct ml_error *err)
{
    uint64_t more_gib = (memory.limit_bytes / GIB + 1) * 4;
    char limit[32];

    if (!memory.set || (err->text[0] && err->code != -ENOMEM))
        return;
    ml_format_bytes(limit, (int64_t)ml_min_u64(memory.limit_bytes, INT64_MAX), ML_UNIT_AUTO);
    switch (memory.reason) {
    case BY_SIZE: explain_size(limit, more_gib, err); break;
    case BY_MACHINE:
        ml_error_set(err, -ENOMEM,
                     "%s: needs more than %s of memory, which is all that this machine or "
                     "container has; read it on a larger one, or use --max-memory %" PRIu64
                     "GiB to try anyway",
                     memory.path, limit, more_gib);
        break;
    case BY_OPTION:
        ml_error_set(err, -ENOMEM,
                     "%s: needs more than the %s of memory that --max-memory allows; give it "
                     "more, for example --max-memory %" PRIu64 "GiB",
                     memory.path, limit, more_gib);
        break;
    }
}
