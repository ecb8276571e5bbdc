/* run_program.c: see run_program.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run_program.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector.h"
#include "collector_process.h"
#include "installed_files.h"
#include "launch.h"
#include "options.h"
#include "output_name.h"
#include "program_check.h"
#include "recent_traces.h"
#include "run_checkpoints.h"
#include "run_digest.h"
#include "run_notes.h"
#include "run_scan.h"
#include "run_symbols.h"
#include "run_verdict.h"
#include "say.h"

/* As env(1) and nohup(1): found but not runnable, not found. */
#define EXIT_NOT_RUNNABLE 126
#define EXIT_NOT_FOUND 127

#define PROGRESS_MS 500

const char *const ml_heap_choices[] = {"off",         "malloc", "all", "sample[:BYTES]",
                                       "large:BYTES", NULL};
const char *const ml_cuda_choices[] = {"auto", "injection", "off", NULL};
const char *const ml_stacks_choices[] = {"none", "python", "native", "all", NULL};

struct run {
    const struct ml_run_opts *opts;
    char program[PATH_MAX];
    char library[PATH_MAX];
    char bootstrap[PATH_MAX]; /* "": none */
    char *trace;
    struct ml_ticks ticks;
    struct ml_session_dir session;
    struct ml_launch launch;
    pid_t collector;
    int collector_status;
    bool collector_ended;
    bool collector_left; /* it continues alone, and owns the session */
    bool obstacle;       /* the program cannot be recorded, and that was reported */
    bool foreign;        /* because it is for another architecture: it gets no LD_PRELOAD */
};

static int fail(int code, const char *text)
{
    ml_say("%s", text);
    return code;
}

/* ---- The collector's process -------------------------------------------- */

/* As it was typed, with the size: "sample:524288". */
static const char *heap_words(const struct ml_run_opts *o, char *ret, size_t len)
{
    const char *choice = ml_heap_choices[o->heap];
    int n = snprintf(ret, len, "%.*s", (int)ml_choice_word(choice), choice);

    if (o->heap >= ML_HEAP_SAMPLE)
        snprintf(ret + n, len - (size_t)n, ":%" PRIu64, o->heap_bytes);
    return ret;
}

static int start_collector(struct run *run, char **argv, struct ml_error *err)
{
    char *command = ml_joined_words(argv);
    char host[HOST_NAME_MAX + 1] = "", heap[64];
    struct ml_setting settings[] = {
        {"version", MEMLEDGER_VERSION},
        {"command", command ? command : ""},
        {"host", host},
        {"heap", heap_words(run->opts, heap, sizeof(heap))},
        {ML_SETTING_CUDA, ml_cuda_choices[run->opts->cuda]},
        {"stacks", ml_stacks_choices[run->opts->stacks]},
        {"sample_only", run->opts->sample_only ? "yes" : "no"},
        {run->opts->keep ? "keep" : NULL, run->opts->keep},
        {NULL, NULL},
    };
    struct ml_collector_opts opts = {
        .path = run->trace,
        .keep = run->opts->limits,
        .save_on_oom = run->opts->on_oom,
        .save_on_growth = run->opts->growth,
        .force = run->opts->force,
        .settings = settings,
        .launcher = getpid(),
        .program = run->launch.pid,
        .command = command ? command : "",
        .sample_hz = (uint32_t)run->opts->sample_hz,
        .sample_only = run->opts->sample_only,
    };
    int r;

    gethostname(host, sizeof(host) - 1);
    r = ml_collector_start(&opts, &run->session, &run->ticks, &run->launch, &run->collector, err);
    free(command);
    return r;
}

/* Wakes the collector. */
static void wake_collector(struct ml_session *page)
{
    atomic_fetch_add(&page->doorbell, 1);
    syscall(SYS_futex, &page->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void stop_collector(struct run *run)
{
    struct ml_session *page = run->session.page;

    atomic_store(&page->finish, 1);
    wake_collector(page);
    if (!run->collector_ended)
        run->collector_ended = ml_collector_wait(&run->launch, run->collector, run->trace, page,
                                                 &run->collector_status);
    run->collector_left = !run->collector_ended;
}

/* If the collector continues, it removes the session. */
static void release(struct run *run)
{
    if (run->collector_left)
        ml_session_dir_detach(&run->session);
    else
        ml_session_dir_release(&run->session);
    free(run->trace);
}

/* ---- Waiting ------------------------------------------------------------ */

static void show_progress(const struct run *run, struct ml_run_progress *progress)
{
    if (!run->opts->quiet)
        ml_run_progress_show(progress, run->session.page);
}

/* The kernel is more reliable than the collector: a process that has just been started may
 * not have said hello yet. */
static bool others_run(const struct run *run)
{
    int others = ml_launch_has_others(run->collector);

    return others < 0 ? atomic_load(&run->session.page->running) > 0 : others > 0;
}

/* As many as signals have come. */
static void request_saves(struct run *run)
{
    struct ml_session *page = run->session.page;

    if (run->launch.saves == atomic_load(&page->save_requests))
        return;
    atomic_store(&page->save_requests, run->launch.saves);
    wake_collector(page);
}

static int wait_for_program(struct run *run)
{
    struct ml_run_progress progress;
    bool program_ended = false;
    int program_status = 0;

    ml_run_progress_init(&progress);
    while (!program_ended ||
           (run->opts->wait && !run->launch.stops && !run->collector_ended && others_run(run))) {
        int status;
        pid_t pid = ml_launch_next(&run->launch, PROGRESS_MS, &status);
        if (pid == run->launch.pid) {
            program_ended = true;
            program_status = status;
            atomic_store(&run->session.page->program_status, (uint32_t)status);
            atomic_store(&run->session.page->program_ended, 1);
            wake_collector(run->session.page);
        } else if (pid == run->collector) {
            run->collector_ended = true;
            run->collector_status = status;
            atomic_store(&run->session.page->closed, 1);
        } else {
            request_saves(run);
            show_progress(run, &progress);
        }
    }
    if (run->opts->wait)
        run->launch.stops = 0; /* so far they have only ended the wait for other processes */
    ml_run_progress_clear(&progress);
    return program_status;
}

/* ---- The program --------------------------------------------------------- */

/* For tests: samples that are the same in every run. */
static uint64_t heap_seed(void)
{
    const char *text = getenv("MEMLEDGER_HEAP_SEED");

    return text ? strtoull(text, NULL, 10) : 0;
}

/* Precondition: the program was found. */
static int prepare(struct run *run, const char *name, struct ml_error *err)
{
    struct ml_session_opts session = {.heap = (uint32_t)run->opts->heap,
                                      .heap_bytes = run->opts->heap_bytes,
                                      .heap_seed = heap_seed(),
                                      .cuda = (uint32_t)run->opts->cuda,
                                      .operators = run->opts->operators,
                                      .stacks = (uint32_t)run->opts->stacks,
                                      .ring_bytes = ML_RING_BYTES_DEFAULT,
                                      .ring_asked = run->opts->ring_bytes != ML_RING_BYTES_UNSAID,
                                      .paused = run->opts->paused,
                                      .copies = run->opts->scan};
    const char *library = run->opts->heap ? "libmemledger-heap.so" : "libmemledger.so";
    const char *obstacle;
    int r = ml_recorder_path(library, run->library, err);

    if (session.ring_asked)
        session.ring_bytes = (uint32_t)run->opts->ring_bytes;
    if (r)
        return r;
    if (run->opts->names == ML_NAMES_AUTO)
        ml_bootstrap_path(run->bootstrap);
    obstacle = run->opts->sample_only ? NULL : ml_program_obstacle(run->program, &run->foreign);
    run->obstacle = obstacle;
    if (obstacle)
        ml_say("%s %s; it runs unrecorded", name, obstacle);
    ml_ticks_init(&run->ticks);
    session.clock = run->ticks.mode;
    r = ml_session_dir_init(&run->session, &session, err);
    if (r)
        return r;
    r = ml_session_dir_reach(&run->session, run->library, err);
    if (r)
        ml_session_dir_release(&run->session);
    return r;
}

/* The program waits until the trace is open. Releases `run` on
 * failure. */
static int start(struct run *run, char **argv, struct ml_error *err)
{
    struct ml_launch_opts opts = {
        .path = run->program,
        .argv = argv,
        .library = run->opts->sample_only || run->foreign ? NULL : run->library,
        .session_dir = run->session.path,
        .cuda_injection = run->opts->cuda == ML_CUDA_INJECTION,
        .bootstrap = run->bootstrap,
    };
    int exec_errno;
    int r = ml_launch_begin(&run->launch, &opts, err);

    if (r) {
        release(run);
        return r;
    }
    atomic_store(&run->session.page->held, 1);
    r = ml_output_name(run->opts->output, argv[0], run->launch.pid, &run->trace, err);
    if (!r)
        r = start_collector(run, argv, err);
    if (r) {
        /* First: a pending signal may end us then. */
        release(run);
        ml_launch_cancel(&run->launch);
        return r;
    }
    if (run->opts->wait || run->opts->scan) /* copies of processes: see exit_copy.c */
        ml_launch_adopt();
    if (ml_launch_go(&run->launch, &exec_errno)) {
        atomic_store(&run->session.page->held, 0);
        return 0;
    }
    stop_collector(run);
    release(run);
    return ml_error_set(err, -ENOEXEC, "cannot run %s: %s", run->program, strerror(exec_errno));
}

/* As in a shell: not found, not executable, everything else. */
static int search_code(int r)
{
    if (r == -ENOENT)
        return EXIT_NOT_FOUND;
    return r == -EACCES ? EXIT_NOT_RUNNABLE : ML_EXIT_FAILURE;
}

static bool wants_symbols(const struct run *run)
{
    return run->opts->symbols == ML_SYMBOLIZE_AUTO && run->opts->stacks >= ML_STACKS_NATIVE &&
           run->collector_ended && !WIFSIGNALED(run->collector_status);
}

/* Whether the program failed and had asked for memory in vain. */
static bool is_refused(const struct run *run, int status)
{
    return !run->opts->quiet && status != 0 && run->launch.stops == 0 && !run->collector_left &&
           atomic_load(&run->session.page->refusals) > 0;
}

int ml_run_program(const struct ml_run_opts *opts, char **argv)
{
    struct run state = {.opts = opts}, *run = &state;
    struct ml_error err = {0};
    struct ml_run_result result;
    int status, r;

    ml_launch_init(&run->launch);
    run->launch.save_signal = opts->save_signal;
    r = ml_program_find(argv[0], run->program, &err);
    if (r)
        return fail(search_code(r), err.text);
    r = prepare(run, argv[0], &err);
    if (r)
        return fail(ML_EXIT_FAILURE, err.text);
    r = start(run, argv, &err);
    if (r)
        return fail(r == -ENOEXEC ? EXIT_NOT_RUNNABLE : ML_EXIT_FAILURE, err.text);
    status = wait_for_program(run);
    stop_collector(run);
    /* Checkpoints would make a file larger that has a limit. */
    if (run->collector_ended && !opts->limits.bytes &&
        (run->collector_status == 0 || WIFSIGNALED(run->collector_status)))
        ml_run_add_checkpoints(&run->launch, run->trace, (enum ml_checkpoint_use)opts->checkpoints,
                               opts->quiet);
    if (run->collector_ended && run->collector_status == 0 && !opts->sample_only)
        ml_run_add_digest(&run->launch, run->trace, (enum ml_digest_use)opts->digest, opts->quiet);
    if (opts->scan)
        ml_run_scan(&run->launch, run->trace, run->session.page, run->ticks.start_ns);
    result = (struct ml_run_result){
        .trace = run->trace,
        .program = basename(run->program),
        .session_dir = run->session.path,
        .quiet = run->opts->quiet,
        .heap = run->opts->heap,
        .sample_only = run->opts->sample_only,
        .cuda_injection = run->opts->cuda == ML_CUDA_INJECTION,
        .keeps_part = run->opts->keep,
        .obstacle = run->obstacle,
        .collector_killed = run->collector_ended && WIFSIGNALED(run->collector_status),
        .collector_left = run->collector_left ? run->collector : 0,
    };
    if (wants_symbols(run))
        ml_run_symbols(run->trace, run->opts->quiet, &run->launch, run->session.page);
    ml_run_note(&result, run->session.page);
    if (is_refused(run, status))
        ml_run_verdict(&run->launch, run->trace);
    ml_recent_note(run->trace);
    release(run);
    return ml_launch_exit_code(&run->launch, status);
}
