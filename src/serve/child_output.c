/* child_output.c: see child_output.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "child_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nanoseconds.h"

#define OURSELVES "/proc/self/exe"
#define READ_BYTES 65536

enum { OUTPUT, ERRORS, STREAMS };

struct child {
    pid_t pid;
    int from[STREAMS];
    struct ml_buf text[STREAMS];
    const struct ml_child_limits *limits;
    uint64_t end_ns;
};

static void close_pipe(int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

/* The server blocks the signals that end it; a command must not. */
static int spawn_unblocked(struct child *c, const posix_spawn_file_actions_t *actions,
                           char **arguments)
{
    posix_spawnattr_t attributes;
    sigset_t none;
    int r = posix_spawnattr_init(&attributes);

    if (r)
        return r;
    sigemptyset(&none);
    r = posix_spawnattr_setsigmask(&attributes, &none);
    if (!r)
        r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (!r)
        r = posix_spawn(&c->pid, OURSELVES, actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    return r;
}

/* The name of the command and its arguments, of which a job may have a thousand; NULL: no memory.
 * The caller frees the array. */
static char **with_name(const char *const *argv)
{
    size_t count = 0;
    char **ret;

    while (argv[count])
        count++;
    ret = calloc(count + 2, sizeof(*ret));
    if (!ret)
        return NULL;
    ret[0] = (char *)"memledger";
    for (size_t i = 0; i < count; i++)
        ret[i + 1] = (char *)argv[i];
    return ret;
}

static int spawn(struct child *c, const char *const *argv, int to[STREAMS])
{
    posix_spawn_file_actions_t actions;
    char **arguments = with_name(argv);
    int r;

    if (!arguments || posix_spawn_file_actions_init(&actions)) {
        free(arguments);
        return -ENOMEM;
    }
    r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!r)
        r = posix_spawn_file_actions_adddup2(&actions, to[OUTPUT], STDOUT_FILENO);
    if (!r && !c->limits->show_errors)
        r = posix_spawn_file_actions_adddup2(&actions, to[ERRORS], STDERR_FILENO);
    if (!r)
        r = spawn_unblocked(c, &actions, arguments);
    posix_spawn_file_actions_destroy(&actions);
    free(arguments);
    return -r;
}

static int start(struct child *c, const char *const *argv)
{
    int output[2], errors[2], r;

    if (pipe2(output, O_CLOEXEC))
        return -errno;
    if (pipe2(errors, O_CLOEXEC)) {
        r = -errno;
        close_pipe(output);
        return r;
    }
    r = spawn(c, argv, (int[STREAMS]){output[1], errors[1]});
    if (r < 0) {
        close_pipe(output);
        close_pipe(errors);
        return r;
    }
    close(output[1]);
    close(errors[1]);
    c->from[OUTPUT] = output[0];
    c->from[ERRORS] = errors[0];
    return 0;
}

/* @return 0, or negative errno; the stream is closed at its end */
static int read_some(struct child *c, unsigned stream)
{
    char part[READ_BYTES];
    ssize_t n = read(c->from[stream], part, sizeof(part));

    if (n < 0)
        return errno == EINTR ? 0 : -errno;
    if (n == 0) {
        close(c->from[stream]);
        c->from[stream] = -1;
        return 0;
    }
    if (c->text[stream].len + (size_t)n > c->limits->output_bytes)
        return -EFBIG;
    return ml_buf_append(&c->text[stream], part, (size_t)n);
}

static int read_all(struct child *c)
{
    int r = 0;

    while (r == 0 && (c->from[OUTPUT] >= 0 || c->from[ERRORS] >= 0)) {
        struct pollfd streams[STREAMS + 1] = {
            {.fd = c->from[OUTPUT], .events = POLLIN},
            {.fd = c->from[ERRORS], .events = POLLIN},
            {.fd = c->limits->stop_fd ? c->limits->stop_fd : -1, .events = POLLIN}};
        uint64_t now_ns = ml_clock_ns(CLOCK_MONOTONIC);
        int ready;

        if (now_ns >= c->end_ns)
            return -ETIME;
        ready = poll(streams, STREAMS + 1, (int)((c->end_ns - now_ns) / 1000000 + 1));
        if (ready < 0 && errno != EINTR)
            return -errno;
        if (ready > 0 && streams[STREAMS].revents)
            return -ECANCELED;
        for (unsigned i = 0; i < STREAMS && ready > 0 && r == 0; i++)
            if (c->from[i] >= 0 && streams[i].revents)
                r = read_some(c, i);
    }
    return r;
}

static int wait_for(const struct child *c)
{
    int status;

    while (waitpid(c->pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int explain(int r, struct ml_error *err)
{
    switch (r) {
    case -ETIME: return ml_error_set(err, r, "it takes too long; the command line has no limit");
    case -ECANCELED: return ml_error_set(err, r, "it was stopped");
    case -EFBIG: return ml_error_set(err, r, "the answer is too large; ask for a part of it");
    default: return ml_error_set(err, r, "the command could not be run");
    }
}

int ml_child_output(const char *const *argv, const struct ml_child_limits *limits,
                    struct ml_buf *out, struct ml_error *err)
{
    struct child c = {.limits = limits, .from = {-1, -1}};
    int r = start(&c, argv), code;

    if (r < 0)
        return explain(r, err);
    c.end_ns = ml_clock_ns(CLOCK_MONOTONIC) + limits->seconds * UINT64_C(1000000000);
    r = read_all(&c);
    if (r < 0)
        kill(c.pid, SIGKILL);
    for (unsigned i = 0; i < STREAMS; i++)
        if (c.from[i] >= 0)
            close(c.from[i]);
    code = wait_for(&c);
    if (r == 0) {
        const struct ml_buf *text = &c.text[code == 0 ? OUTPUT : ERRORS];
        r = ml_buf_append(out, text->data, text->len);
    }
    for (unsigned i = 0; i < STREAMS; i++)
        ml_buf_release(&c.text[i]);
    return r < 0 ? explain(r, err) : code;
}

const char *ml_child_reason(struct ml_buf *text)
{
    static const char name[] = "memledger: ";
    char *begin;

    if (ml_buf_append(text, "", 1) < 0)
        return "out of memory";
    begin = (char *)text->data;
    for (char *line = begin; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, strlen(name)) == 0) {
            begin = line + strlen(name);
            break;
        }
    }
    begin[strcspn(begin, "\n")] = '\0';
    return begin;
}
