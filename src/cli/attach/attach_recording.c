/* attach_recording.c: see attach_recording.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "attach_recording.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach_checks.h"
#include "attached.h"
#include "file_lock.h"
#include "injected_call.h"
#include "installed_files.h"
#include "nanoseconds.h"
#include "needed_glibc.h"
#include "output_name.h"
#include "proc_stat.h"
#include "session_place.h"
#include "started_name.h"

#define LOOK_MS 50
#define FINISH_MS 30000
#define ANSWER_NS UINT64_C(30000000000)

/* ---- An older trace ------------------------------------------------------------- */

/* Renames the file that a forced recording replaces, until the recording has begun. */
static int set_aside(struct ml_attach_recording *r, const struct ml_attach_opts *opts,
                     struct ml_error *err)
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
static void bring_back(const struct ml_attach_recording *r)
{
    if (r->aside[0])
        rename(r->aside, r->trace);
}

static void forget_older(const struct ml_attach_recording *r)
{
    if (r->aside[0])
        unlink(r->aside);
}

/* ---- The collector ---------------------------------------------------------------- */

/* The session's folder as the process sees it. */
static void name_inside(struct ml_attach_recording *r)
{
    if (r->place.folder < 0)
        snprintf(r->session_inside, sizeof(r->session_inside), "%s", r->session);
    else if (snprintf(r->session_inside, sizeof(r->session_inside), "%s%s", r->place.inside,
                      strrchr(r->session, '/')) >= (int)sizeof(r->session_inside))
        r->session_inside[0] = '\0';
}

/* In the child: `memledger collect`, which prints the session's folder and the collector's pid. */
static void be_collect(pid_t pid, const struct ml_attach_opts *opts,
                       const struct ml_attach_recording *r, int starter)
{
    char own[64], target[32], output[PATH_MAX + 16], pipe_end[32], place[64], inside[PATH_MAX + 32];
    const char *argv[11] = {"memledger", "collect", "--cuda", target, output, pipe_end};
    int n = 6;

    snprintf(own, sizeof(own), "/proc/%d/exe", (int)getppid());
    snprintf(target, sizeof(target), "--pid=%d", (int)pid);
    snprintf(output, sizeof(output), "--output=%s", r->trace);
    snprintf(pipe_end, sizeof(pipe_end), "--starter-fd=%d", starter);
    snprintf(place, sizeof(place), "--place=%s", r->place.path);
    snprintf(inside, sizeof(inside), "--place-inside=%s", r->place.inside);
    if (opts->force)
        argv[n++] = "--force";
    if (opts->heap)
        argv[n++] = "--heap";
    if (r->place.folder >= 0) {
        argv[n++] = place;
        argv[n++] = inside;
    }
    fcntl(starter, F_SETFD, 0);
    execv(own, (char **)(uintptr_t)argv);
}

static int start_collector(pid_t pid, const struct ml_attach_opts *opts,
                           struct ml_attach_recording *r, struct ml_error *err)
{
    int output[2], starter[2], status = 0;
    char text[512] = "";
    pid_t child;
    FILE *said;

    if (pipe2(output, O_CLOEXEC) || pipe2(starter, O_CLOEXEC))
        return ml_error_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
    r->starter = starter[1];
    child = fork();
    if (child == 0) {
        dup2(output[1], STDOUT_FILENO);
        be_collect(pid, opts, r, starter[0]);
        _exit(127);
    }
    close(output[1]);
    close(starter[0]);
    said = fdopen(output[0], "r");
    if (said && fgets(r->session, sizeof(r->session), said) && fgets(text, sizeof(text), said))
        r->collector = atoi(text);
    if (said)
        fclose(said);
    r->session[strcspn(r->session, "\n")] = '\0';
    waitpid(child, &status, 0);
    if (!r->collector || !WIFEXITED(status) || WEXITSTATUS(status))
        return ml_error_set(err, -EIO, "the recording of process %d was not started", (int)pid);
    name_inside(r);
    return 0;
}

/* Maps the session's page, which stays readable when the collector has removed the folder. */
static int open_page(pid_t pid, struct ml_attach_recording *r, struct ml_error *err)
{
    char path[sizeof(r->session) + sizeof(ML_SESSION_PAGE) + 1];
    int fd, result;

    snprintf(path, sizeof(path), "%s/" ML_SESSION_PAGE, r->session);
    ml_file_user_begin(&r->place.user);
    fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    ml_file_user_end(&r->place.user);
    result = fd < 0 ? -errno : ml_recorded_session_map(fd, true, &r->shared);
    if (fd >= 0)
        close(fd);
    return result ? ml_error_set(err, result, "the recording of process %d ended at once", (int)pid)
                  : 0;
}

/* A collector that was killed stays a zombie where no process waits for it. */
static bool collector_runs(const struct ml_attach_recording *r)
{
    uint32_t pid = (uint32_t)r->collector;
    struct ml_proc_stat stat;

    return ml_proc_stat_read(pid, pid, &stat) && stat.state != 'Z' && stat.state != 'X';
}

bool ml_attach_goes_on(const struct ml_attach_recording *r)
{
    /* Pairs with finish() of the collector. */
    return !atomic_load(&r->shared.page->closed) && collector_runs(r);
}

static void remove_session(const struct ml_attach_recording *r)
{
    ml_file_user_begin(&r->place.user);
    ml_session_place_remove(r->session);
    ml_file_user_end(&r->place.user);
}

/* Pairs with ml_collector_publish_end. */
static bool file_is_closed(const struct ml_attach_recording *r)
{
    return atomic_load_explicit(&r->shared.page->file_closed, memory_order_acquire);
}

/* The collector removes the session's folder when the trace is complete. That the folder is gone
 * does not suffice: the next recording of the same user removes that of a collector that was
 * killed. */
enum ml_attach_trace ml_attach_finish(const struct ml_attach_recording *r)
{
    bool runs = true; /* looked at before the folder, which is removed first */

    for (int waited = 0; waited < FINISH_MS && runs; waited += 5) {
        runs = collector_runs(r);
        if (file_is_closed(r) && access(r->session, F_OK))
            return ML_ATTACH_COMPLETE;
        poll(NULL, 0, 5);
    }
    if (runs)
        return ML_ATTACH_UNFINISHED;
    remove_session(r);
    return file_is_closed(r) ? ML_ATTACH_COMPLETE : ML_ATTACH_CUT_OFF;
}

/* The process may join later: it then finds that the session is gone. */
static void abandon(const struct ml_attach_recording *r)
{
    kill(r->collector, SIGKILL);
    for (int waited = 0; waited < FINISH_MS && collector_runs(r); waited += 5)
        poll(NULL, 0, 5);
    remove_session(r);
    unlink(r->trace);
}

/* ---- The process ------------------------------------------------------------------ */

/* Recorders of older versions answer a session that they do not know with -EIO. */
static int explain_unreached(pid_t pid, int32_t value, const struct ml_attach_recording *r,
                             struct ml_error *err)
{
    if (r->loaded)
        return ml_error_set(err, value,
                            "process %d cannot use the recorder that an earlier attach has loaded: "
                            "if memledger was updated since, restart the program; otherwise check "
                            "its ulimits (-v, -f, -n)",
                            (int)pid);
    return ml_error_set(err, value,
                        "process %d cannot reach the collector in the folder for temporary files; "
                        "check its ulimits (-v, -f, -n) and its user",
                        (int)pid);
}

static int explain(pid_t pid, int32_t value, const struct ml_attach_recording *r,
                   struct ml_error *err)
{
    switch (-value) {
    case EBUSY:
        return ml_error_set(err, value,
                            "process %d is already being recorded; memledger live %d shows it",
                            (int)pid, (int)pid);
    case EALREADY:
        return ml_error_set(err, value,
                            "process %d has not answered an earlier attach yet; try again later",
                            (int)pid);
    case EPERM:
        return ml_error_set(err, value,
                            "process %d is in a seccomp sandbox that forbids the recorder's system "
                            "calls; start it with memledger run instead",
                            (int)pid);
    case ENOSPC:
        return ml_error_set(err, value, "process %d has been recorded too often; restart it",
                            (int)pid);
    case ENOMEM:
        return ml_error_set(err, value,
                            "process %d has no memory left for the recorder; raise its limits "
                            "(ulimit -v, control group)",
                            (int)pid);
    case EPROTO:
        return ml_error_set(err, value,
                            "process %d has loaded the recorder of another version of memledger, "
                            "%s; attach with the command of that version, or restart the program",
                            (int)pid, r->library);
    default: return explain_unreached(pid, value, r, err);
    }
}

/* Waits for an earlier attach that was given up, but that the process has not finished. */
static int inject_after_earlier(pid_t pid, const struct ml_injection *what, int32_t *ret_value,
                                struct ml_error *err)
{
    uint64_t end_ns = ml_clock_ns(CLOCK_MONOTONIC) + what->patience_ns;
    int r = ml_injected_call(pid, what, ret_value, err);

    while (!r && *ret_value == -EALREADY && ml_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        poll(NULL, 0, LOOK_MS);
        r = ml_injected_call(pid, what, ret_value, err);
    }
    return r;
}

/* One recorder for all recordings of a process: two do not fit into glibc's reserve for
 * thread-local variables, and would hook the same functions. */
static int choose_recorder(pid_t pid, const struct ml_attach_opts *opts,
                           struct ml_attach_recording *r, struct ml_error *err)
{
    r->loaded = ml_injected_recorder(pid, r->library);
    if (!r->loaded)
        return ml_recorder_path("libmemledger-heap.so", r->library, err);
    if (opts->heap && !strstr(r->library, "libmemledger-heap"))
        return ml_error_set(err, -EBUSY,
                            "process %d has loaded %s, which cannot record malloc; attach without "
                            "--heap",
                            (int)pid, r->library);
    return 0;
}

/* The folder that contains the package. */
static void find_package(struct ml_attach_recording *r)
{
    char *slash;

    ml_bootstrap_path(r->package); /* the package is beside it */
    slash = strrchr(r->package, '/');
    if (slash)
        *slash = '\0';
}

/* Copies what a process with files of its own does not see. */
static int fill_place(pid_t pid, struct ml_attach_recording *r, struct ml_error *err)
{
    char none[PATH_MAX] = "";

    if (r->place.folder < 0)
        return 0;
    if (!ml_target_has_python(pid))
        r->package[0] = '\0';
    return ml_target_place_fill(&r->place, r->session, r->session_inside,
                                r->loaded ? none : r->library, r->package, err);
}

/* The process may be in another folder, so it gets the whole path of the trace. */
static int put_request(const struct ml_attach_recording *r, char *ret, size_t room,
                       struct ml_error *err)
{
    char *whole = realpath(r->trace, NULL);
    int len = snprintf(ret, room, "%s\n%s\n%s\n%s", r->session_inside, r->library, r->package,
                       whole ? whole : r->trace);

    free(whole);
    return len > 0 && (size_t)len < room
               ? 0
               : ml_error_set(err, -ENAMETOOLONG,
                              "%s: the path is too long for a process that already runs; choose a "
                              "shorter one with -o",
                              r->trace);
}

static int name_trace(pid_t pid, const struct ml_attach_opts *opts, struct ml_attach_recording *r,
                      struct ml_error *err)
{
    char program[ML_STARTED_NAME_ROOM];

    ml_started_name(pid, program);
    return ml_output_name(opts->output, program, pid, &r->trace, err);
}

/* After a step that needs the process: if it has ended, that is why the step failed. */
static int or_ended(pid_t pid, int result, struct ml_error *err)
{
    if (result && ml_attach_has_ended(pid))
        return ml_error_set(err, -ESRCH, "process %d has ended", (int)pid);
    return result;
}

/* Precondition: the collector runs. */
static int join(pid_t pid, const struct ml_attach_opts *opts, struct ml_attach_recording *r,
                struct ml_error *err)
{
    char argument[1024], library[PATH_MAX];
    struct ml_injection what = {r->library, ML_ATTACH_NAME, argument, r->session_inside,
                                opts->timeout_ns};
    int32_t value;
    int result;

    strcpy(library, r->library);
    find_package(r);
    result = or_ended(pid, open_page(pid, r, err), err);
    if (!result)
        result = or_ended(pid, fill_place(pid, r, err), err);
    if (!result)
        result = put_request(r, argument, sizeof(argument), err);
    if (!result)
        result = or_ended(pid, inject_after_earlier(pid, &what, &value, err), err);
    if (result)
        ml_attach_explain_wait(pid, err);
    if (result && !r->loaded) /* else the process chose the path */
        ml_explain_glibc(pid, library, err);
    ml_target_place_forget(&r->place, r->session);
    if (!result && value < 0)
        result = or_ended(pid, explain(pid, value, r, err), err);
    r->names = result ? ML_ATTACHED : (enum ml_attached)value;
    return result;
}

static int begin(pid_t pid, const struct ml_attach_opts *opts, struct ml_attach_recording *r,
                 struct ml_error *err)
{
    int result = choose_recorder(pid, opts, r, err);

    if (!result)
        result = or_ended(pid, ml_target_place_find(pid, &r->place, err), err);
    if (!result)
        result = name_trace(pid, opts, r, err);
    if (!result)
        result = set_aside(r, opts, err);
    if (result)
        return result;
    result = start_collector(pid, opts, r, err);
    if (result) {
        bring_back(r);
        return result;
    }
    result = join(pid, opts, r, err);
    if (result) {
        abandon(r);
        bring_back(r);
    } else {
        forget_older(r);
    }
    return result;
}

int ml_attach_begin(pid_t pid, const struct ml_attach_opts *opts, struct ml_attach_recording *r,
                    struct ml_error *err)
{
    int result = ml_attach_check(pid, err);

    r->place.folder = -1;
    return result ? result : begin(pid, opts, r, err);
}

int ml_attach_not_recording(pid_t pid, struct ml_error *err)
{
    return ml_error_set(err, -ESRCH,
                        "memledger attach is not recording process %d; a recording of memledger "
                        "run ends with its program, and memledger pause %d pauses it",
                        (int)pid, (int)pid);
}

int ml_attach_end(pid_t pid, const char *library, const char *session, struct ml_error *err)
{
    struct ml_injection what = {library, ML_DETACH_NAME, "", session, ANSWER_NS};
    int32_t value;
    int r = ml_injected_call(pid, &what, &value, err);

    if (!r && value == -ESRCH)
        return ml_attach_not_recording(pid, err);
    if (!r && value == -EALREADY)
        return ml_error_set(err, value, "process %d is still beginning the recording; try again",
                            (int)pid);
    return r;
}

void ml_attach_release(struct ml_attach_recording *r)
{
    ml_target_place_release(&r->place);
    ml_recorded_session_release(&r->shared);
    if (r->starter)
        close(r->starter);
    r->starter = 0;
    free(r->trace);
    r->trace = NULL;
}
