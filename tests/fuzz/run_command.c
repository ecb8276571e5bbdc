/* run_command.c: see run_command.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run_command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "io.h"
#include "trace_sample.h"
#include "verb_list.h"

static char folder[64];

static void remove_folder(void)
{
    static const char *const names[] = {"trace.mled", "other.mled", "plot.svg", "export.sqlite"};
    char path[128];

    for (size_t i = 0; i < ML_ARRAY_SIZE(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

const char *fuzz_folder(void)
{
    if (folder[0])
        return folder;
    snprintf(folder, sizeof(folder), "/dev/shm/memledger-fuzz-XXXXXX");
    if (!mkdtemp(folder)) {
        snprintf(folder, sizeof(folder), "/tmp/memledger-fuzz-XXXXXX");
        FUZZ_REQUIRE(mkdtemp(folder));
    }
    atexit(remove_folder);
    return folder;
}

void fuzz_write_file(const char *path, const void *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    FUZZ_REQUIRE(fd >= 0 && ml_write_all(fd, bytes, len) == 0 && close(fd) == 0);
}

void fuzz_read_file(const char *path, struct ml_buf *ret)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    ml_buf_clear(ret);
    FUZZ_REQUIRE(fd >= 0 && ml_bytes_of_fd(fd, ret) == 0 && close(fd) == 0);
    ret->data[ret->len] = '\0';
}

/* Commands write to descriptor 1 and to the stream `stdout`; the stream `stderr` is
 * exchanged, since descriptor 2 is where sanitizers report. */
static struct {
    int memory, own;
    FILE *nowhere, *own_stderr;
} streams = {.memory = -1};

static void open_streams(void)
{
    if (streams.memory >= 0)
        return;
    streams.memory = memfd_create("output", MFD_CLOEXEC);
    streams.own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    streams.nowhere = fopen("/dev/null", "we");
    streams.own_stderr = stderr;
    FUZZ_REQUIRE(streams.memory >= 0 && streams.own >= 0 && streams.nowhere);
}

static void redirect(void)
{
    open_streams();
    fflush(stdout);
    FUZZ_REQUIRE(ftruncate(streams.memory, 0) == 0 && lseek(streams.memory, 0, SEEK_SET) == 0);
    FUZZ_REQUIRE(dup2(streams.memory, STDOUT_FILENO) >= 0);
    stderr = streams.nowhere;
}

/* What was printed is appended to `out`. */
static void restore(struct ml_buf *out)
{
    off_t len;

    fflush(stdout);
    stderr = streams.own_stderr;
    FUZZ_REQUIRE(dup2(streams.own, STDOUT_FILENO) >= 0);
    len = lseek(streams.memory, 0, SEEK_END);
    FUZZ_REQUIRE(len >= 0 && ml_buf_reserve(out, (size_t)len) == 0);
    FUZZ_REQUIRE(ml_pread_all(streams.memory, out->data, (size_t)len, 0) == 0);
    out->len = (size_t)len;
    out->data[len] = '\0';
}

int fuzz_run_command(int argc, char **argv, struct ml_buf *out)
{
    const struct ml_verb *verb = ml_verb_find(argv[0]);
    int status;

    FUZZ_REQUIRE(verb);
    ml_buf_clear(out);
    redirect();
    status = verb->run(argc, argv);
    restore(out);
    return status;
}
