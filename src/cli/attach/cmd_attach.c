/* cmd_attach.c: `memledger attach` and `memledger detach`: record a process that already runs.
 *
 * The collector is that of `memledger collect`. The work inside the process is done by a child of
 * ours, so that the kernel lets go of the process whatever happens to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach_checks.h"
#include "attached.h"
#include "compiler.h"
#include "file_lock.h"
#include "inject.h"
#include "installed_files.h"
#include "io.h"
#include "nanoseconds.h"
#include "output_name.h"
#include "process_operand.h"
#include "recorded_session.h"
#include "say.h"
#include "session_place.h"
#include "verbs.h"

#define LOOK_MS 50
#define FINISH_MS 30000
#define ANSWER_NS UINT64_C(30000000000)

struct attach_opts {
    const char *output;
    bool force;
    bool quiet;
    bool heap;
    uint64_t for_ns; /* 0: until Ctrl-C or detach */
    uint64_t timeout_ns;
};

static const struct ml_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = ML_OPT_STRING,
     .offset = offsetof(struct attach_opts, output),
     .value_name = "FILE",
     .help = "write to FILE; %p process id, %h host, %n program"},
    {.name = "force",
     .letter = 'f',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct attach_opts, force),
     .help = "overwrite an existing file"},
    {.name = "quiet",
     .letter = 'q',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct attach_opts, quiet),
     .help = "hide notes, but not errors"},
    {.name = "heap",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct attach_opts, heap),
     .help = "record malloc too, from now on"},
    {.name = "for",
     .type = ML_OPT_DURATION,
     .no_env = true,
     .offset = offsetof(struct attach_opts, for_ns),
     .value_name = "TIME",
     .help = "stop recording after TIME, such as 30s"},
    {.name = "timeout",
     .type = ML_OPT_DURATION,
     .no_env = true,
     .offset = offsetof(struct attach_opts, timeout_ns),
     .value_name = "TIME",
     .help = "give up if the process has not answered after TIME; default 30s"},
};

struct answer {
    int32_t value;
    struct ml_error err; /* code 0: value is valid */
};

static int inject(pid_t pid, const struct ml_injection *what, int32_t *ret_value,
                  struct ml_error *err)
{
#ifdef ML_WITH_INJECT
    return ml_inject(pid, what, ret_value, err);
#else
    (void)what;
    (void)ret_value;
    return ml_error_set(err, -ENOTSUP,
                        "cannot attach to process %d: this memledger was built without libdw; "
                        "start the program with memledger run instead",
                        (int)pid);
#endif
}

static int inject_in_child(pid_t pid, const struct ml_injection *what, int32_t *ret_value,
                           struct ml_error *err)
{
    struct answer answer = {0};
    int fds[2];
    pid_t child;
    ssize_t n;

    if (pipe(fds))
        return ml_error_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
    child = fork();
    if (child == 0) {
        setpgid(0, 0); /* Ctrl-C must not end it halfway */
        answer.err.code = inject(pid, what, &answer.value, &answer.err);
        _exit(ml_write_all(fds[1], &answer, sizeof(answer)) ? 1 : 0);
    }
    close(fds[1]);
    n = child > 0 ? read(fds[0], &answer, sizeof(answer)) : -1;
    close(fds[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    if (n != sizeof(answer))
        return ml_error_set(err, -EIO, "cannot reach process %d", (int)pid);
    *err = answer.err;
    *ret_value = answer.value;
    return answer.err.code;
}

/* Waits for an earlier attach that was given up, but that the process has not finished. */
static int inject_after_earlier(pid_t pid, const struct ml_injection *what, int32_t *ret_value,
                                struct ml_error *err)
{
    uint64_t end_ns = ml_clock_ns(CLOCK_MONOTONIC) + what->patience_ns;
    int r = inject_in_child(pid, what, ret_value, err);

    while (!r && *ret_value == -EALREADY && ml_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        poll(NULL, 0, LOOK_MS);
        r = inject_in_child(pid, what, ret_value, err);
    }
    return r;
}

/* ---- The collector ----------------------------------------------------------- */

struct recording {
    char library[PATH_MAX];
    char package[PATH_MAX]; /* "": none */
    char session[256];
    pid_t collector;
    bool nameless; /* a Python program whose main thread was busy */
    char *trace;
    char aside[PATH_MAX]; /* "": there was no such file before */
};

/* ---- An older trace ------------------------------------------------------------- */

/* Renames the file that a forced recording replaces, until the recording has begun. */
static int set_aside(struct recording *r, const struct attach_opts *opts, struct ml_error *err)
{
    struct stat st;
    int result;

    if (!opts->force || lstat(r->trace, &st) || !S_ISREG(st.st_mode))
        return 0;
    result = ml_file_lock_check(r->trace, err);
    if (result)
        return result;
    if (snprintf(r->aside, sizeof(r->aside), "%s.%d.older", r->trace, (int)getpid()) >=
            (int)sizeof(r->aside) ||
        rename(r->trace, r->aside))
        r->aside[0] = '\0'; /* the collector says what is wrong with the path */
    return 0;
}

/* After a failure. */
static void bring_back(const struct recording *r)
{
    if (r->aside[0])
        rename(r->aside, r->trace);
}

static void forget_older(const struct recording *r)
{
    if (r->aside[0])
        unlink(r->aside);
}

/* ---- Its start and end ------------------------------------------------------------ */

/* Starts `memledger collect`, which prints the session's folder and the collector's pid. */
static int start_collector(pid_t pid, const struct attach_opts *opts, struct recording *r,
                           struct ml_error *err)
{
    char own[64], target[32], output[PATH_MAX + 16];
    char *argv[] = {"memledger", "collect", "--cuda", target, output, NULL, NULL, NULL};
    char **more = argv + 5;
    char text[512] = "";
    int fds[2], status = 0;
    pid_t child;
    FILE *said;

    snprintf(own, sizeof(own), "/proc/%d/exe", (int)getpid());
    snprintf(target, sizeof(target), "--pid=%d", (int)pid);
    snprintf(output, sizeof(output), "--output=%s", r->trace);
    if (opts->force)
        *more++ = "--force";
    if (opts->heap)
        *more = "--heap";
    if (pipe(fds))
        return ml_error_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
    child = fork();
    if (child == 0) {
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        close(fds[1]);
        execv(own, argv);
        _exit(127);
    }
    close(fds[1]);
    said = fdopen(fds[0], "r");
    if (said && fgets(r->session, sizeof(r->session), said) && fgets(text, sizeof(text), said))
        r->collector = atoi(text);
    if (said)
        fclose(said);
    r->session[strcspn(r->session, "\n")] = '\0';
    waitpid(child, &status, 0);
    if (!r->collector || !WIFEXITED(status) || WEXITSTATUS(status))
        return ml_error_set(err, -EIO, "the recording of process %d was not started", (int)pid);
    return 0;
}

static bool session_exists(const struct recording *r)
{
    char path[300];

    snprintf(path, sizeof(path), "%s/page", r->session);
    return access(path, F_OK) == 0;
}

/* The collector removes the session when the trace is complete. */
static void wait_for_collector(const struct recording *r)
{
    for (int waited = 0; waited < FINISH_MS && session_exists(r) && !kill(r->collector, 0);
         waited += 5)
        poll(NULL, 0, 5);
}

/* The process may join later: it then finds that the session is gone. */
static void abandon(const struct recording *r)
{
    kill(r->collector, SIGKILL);
    for (int waited = 0; waited < FINISH_MS && !kill(r->collector, 0); waited += 5)
        poll(NULL, 0, 5);
    ml_session_place_remove(r->session);
    unlink(r->trace);
}

static int explain(pid_t pid, int32_t value, struct ml_error *err)
{
    switch (-value) {
    case EBUSY: return ml_error_set(err, value, "process %d is already being recorded", (int)pid);
    case EALREADY:
        return ml_error_set(err, value,
                            "process %d has not answered an earlier attach yet; try again later",
                            (int)pid);
    case EPERM: return ml_error_set(err, value, "process %d is in a seccomp sandbox", (int)pid);
    case ENOSPC:
        return ml_error_set(err, value, "process %d has been recorded too often; restart it",
                            (int)pid);
    case ENOMEM: return ml_error_set(err, value, "process %d has no memory left", (int)pid);
    default:
        return ml_error_set(err, value, "process %d cannot reach the collector in %s", (int)pid,
                            "the folder for temporary files; check its ulimits and its user");
    }
}

/* ---- attach --------------------------------------------------------------------- */

/* The recorder that the process has loaded. */
static bool loaded_recorder(pid_t pid, char ret[PATH_MAX])
{
    char path[64], *line = NULL;
    size_t room = 0;
    bool found = false;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    maps = fopen(path, "re");
    while (maps && !found && getline(&line, &room, maps) > 0) {
        char *at = strchr(line, '/');
        if (!at || !strstr(at, "/libmemledger"))
            continue;
        at[strcspn(at, "\n")] = '\0';
        snprintf(ret, PATH_MAX, "%s", at);
        found = true;
    }
    free(line);
    if (maps)
        fclose(maps);
    return found;
}

/* One recorder for all recordings of a process: two do not fit into glibc's reserve for
 * thread-local variables, and would hook the same functions. */
static int choose_recorder(pid_t pid, const struct attach_opts *opts, struct recording *r,
                           struct ml_error *err)
{
    if (!loaded_recorder(pid, r->library))
        return ml_recorder_path("libmemledger-heap.so", r->library, err);
    if (opts->heap && !strstr(r->library, "libmemledger-heap"))
        return ml_error_set(err, -EBUSY,
                            "process %d has loaded %s, which cannot record malloc; attach without "
                            "--heap",
                            (int)pid, r->library);
    return 0;
}

/* The process may be in another folder, so it gets the whole path of the trace. */
static int put_request(const struct recording *r, char *ret, size_t room, struct ml_error *err)
{
    char *whole = realpath(r->trace, NULL);
    int len = snprintf(ret, room, "%s\n%s\n%s\n%s", r->session, r->library, r->package,
                       whole ? whole : r->trace);

    free(whole);
    return len > 0 && (size_t)len < room
               ? 0
               : ml_error_set(err, -ENAMETOOLONG,
                              "%s: the path is too long for a process that already runs; choose a "
                              "shorter one with -o",
                              r->trace);
}

static int begin(pid_t pid, const struct attach_opts *opts, struct recording *r,
                 struct ml_error *err)
{
    char argument[1024], command[64] = "";
    struct ml_injection what = {r->library, ML_ATTACH_NAME, argument, opts->timeout_ns};
    int32_t value;
    char *slash;
    int result = choose_recorder(pid, opts, r, err);

    if (!result)
        result = ml_attach_check(pid, r->library, err);
    if (result)
        return result;
    snprintf(argument, sizeof(argument), "/proc/%d/exe", (int)pid);
    if (readlink(argument, r->package, sizeof(r->package) - 1) > 0)
        snprintf(command, sizeof(command), "%.63s",
                 strrchr(r->package, '/') ? strrchr(r->package, '/') + 1 : r->package);
    result = ml_output_name(opts->output, command, pid, &r->trace, err);
    if (!result)
        result = set_aside(r, opts, err);
    if (!result)
        result = start_collector(pid, opts, r, err);
    if (result) {
        bring_back(r);
        return result;
    }
    ml_bootstrap_path(r->package); /* the package is beside it */
    slash = strrchr(r->package, '/');
    if (slash)
        *slash = '\0';
    result = put_request(r, argument, sizeof(argument), err);
    if (!result)
        result = inject_after_earlier(pid, &what, &value, err);
    if (!result && value < 0)
        result = explain(pid, value, err);
    r->nameless = !result && value > 0;
    if (result) {
        abandon(r);
        bring_back(r);
    } else {
        forget_older(r);
    }
    return result;
}

static void wait_for_end(pid_t pid, const struct attach_opts *opts, const struct recording *r,
                         const sigset_t *signals)
{
    uint64_t end_ns = opts->for_ns ? ml_clock_ns(CLOCK_MONOTONIC) + opts->for_ns : UINT64_MAX;
    struct timespec look = {.tv_nsec = LOOK_MS * 1000000L};

    while (session_exists(r) && !kill(r->collector, 0) && ml_clock_ns(CLOCK_MONOTONIC) < end_ns &&
           !(kill(pid, 0) && errno == ESRCH)) {
        if (sigtimedwait(signals, NULL, &look) > 0)
            return;
    }
}

static int end(pid_t pid, const char *library, struct ml_error *err)
{
    struct ml_injection what = {library, ML_DETACH_NAME, "", ANSWER_NS};
    int32_t value;
    int r = inject_in_child(pid, &what, &value, err);

    if (!r && value == -ESRCH)
        return ml_error_set(err, -ESRCH, "process %d is not recorded by memledger attach",
                            (int)pid);
    return r;
}

static int attach(pid_t pid, const struct attach_opts *opts)
{
    static struct recording r;
    struct ml_error err = {0};
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    if (begin(pid, opts, &r, &err)) {
        ml_say("%s", err.text);
        return ML_EXIT_FAILURE;
    }
    if (!opts->quiet)
        ml_say("recording process %d into %s; Ctrl-C or memledger detach %d ends it", (int)pid,
               r.trace, (int)pid);
    if (r.nameless && !opts->quiet)
        ml_say("Python's main thread waits or has no memledger package: existing tensors and names "
               "of modules are not recorded");
    wait_for_end(pid, opts, &r, &signals);
    if (session_exists(&r) && !kill(pid, 0) && end(pid, r.library, &err))
        ml_say("%s", err.text);
    wait_for_collector(&r);
    if (!opts->quiet)
        ml_say("next: memledger summary %s", r.trace);
    free(r.trace);
    return err.code ? ML_EXIT_FAILURE : ML_EXIT_OK;
}

static int cmd_attach(int argc, char **argv)
{
    struct attach_opts opts = {.output = ML_OUTPUT_DEFAULT, .timeout_ns = ANSWER_NS};
    pid_t pid;
    int r = ml_process_operand(&ml_verb_attach, &opts, argc, argv, &pid);

    return r >= 0 ? r : attach(pid, &opts);
}

/* ---- detach ----------------------------------------------------------------------- */

static int cmd_detach(int argc, char **argv)
{
    char library[PATH_MAX], none;
    struct ml_recorded_session session;
    struct ml_error err = {0};
    pid_t pid;
    int r = ml_process_operand(&ml_verb_detach, &none, argc, argv, &pid);

    if (r >= 0)
        return r;
    r = ml_recorded_session_open(pid, &session, &err);
    ml_recorded_session_release(&session);
    if (!r && !loaded_recorder(pid, library))
        r = ml_error_set(&err, -ESRCH, "process %d is not recorded by memledger attach", (int)pid);
    if (!r)
        r = end(pid, library, &err);
    if (r)
        ml_say("%s", err.text);
    else
        ml_say("the recording of process %d has ended", (int)pid);
    return r ? ML_EXIT_FAILURE : ML_EXIT_OK;
}

const struct ml_verb ml_verb_attach = {
    .name = "attach",
    .summary = "record a process that already runs",
    .usage = "[OPTION]... PID",
    .details = "Records until Ctrl-C, memledger detach, --for, or the end of the process.",
    .group = ML_GROUP_RECORD,
    .operands = ML_OPERANDS_NONE,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = cmd_attach,
};

const struct ml_verb ml_verb_detach = {
    .name = "detach",
    .summary = "end the recording of memledger attach",
    .usage = "PID",
    .details = "The process goes on.",
    .group = ML_GROUP_RECORD,
    .operands = ML_OPERANDS_NONE,
    .run = cmd_detach,
};
