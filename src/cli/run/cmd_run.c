/* cmd_run.c: `memledger run`: record a program and its children.
 *
 * This process starts two others, the collector and the program, and waits.
 * The collector is a separate process so that neither the program's end nor ours can damage
 * the trace, and its own end cannot harm the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector.h"
#include "collector_process.h"
#include "launch.h"
#include "output_name.h"
#include "program_check.h"
#include "installed_files.h"
#include "run_notes.h"
#include "sampler.h"
#include "say.h"
#include "verbs.h"

/* As env(1) and nohup(1): found but not runnable, not found. */
#define EXIT_NOT_RUNNABLE 126
#define EXIT_NOT_FOUND 127

#define PROGRESS_MS 500

/* As the default of --ring-size: see ring_asked of ring.h. */
#define RING_BYTES_UNSAID UINT64_MAX

struct run_opts {
    const char *output;
    bool force;
    bool quiet;
    bool wait;
    int heap;
    int cuda;
    int names;
    bool operators;
    int stacks;
    uint64_t ring_bytes;
    int64_t sample_hz;
    bool sample_only;
};

struct run {
    struct run_opts opts;
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

static const char *const heap_choices[] = {"off", "malloc", "all", NULL};
/* In the order of enum ml_cuda_mode. */
static const char *const cuda_choices[] = {"auto", "injection", "off", NULL};
enum { NAMES_AUTO, NAMES_OFF };
static const char *const names_choices[] = {"auto", "off", NULL};
/* In the order of enum ml_stacks_mode. */
static const char *const stacks_choices[] = {"none", "python", "native", "all", NULL};

static const struct ml_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = ML_OPT_STRING,
     .offset = offsetof(struct run_opts, output),
     .value_name = "FILE",
     .help = "write to FILE; %p process id, %h host, %n program"},
    {.name = "force",
     .letter = 'f',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct run_opts, force),
     .help = "overwrite an existing file"},
    {.name = "quiet",
     .letter = 'q',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct run_opts, quiet),
     .help = "hide progress and notes, but not errors and losses"},
    {.name = "heap",
     .type = ML_OPT_OPTIONAL_CHOICE,
     .offset = offsetof(struct run_opts, heap),
     .value_name = "WHAT",
     .choices = heap_choices,
     .help = "record the host heap: the malloc family; all: mmap too"},
    {.name = "cuda",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct run_opts, cuda),
     .value_name = "HOW",
     .choices = cuda_choices,
     .help = "hook CUDA calls: auto (by preload), injection, off"},
    {.name = "ops",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct run_opts, operators),
     .help = "record PyTorch operators as scopes inside modules"},
    {.name = "names",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct run_opts, names),
     .value_name = "HOW",
     .choices = names_choices,
     .help = "name modules and tensors: auto (import hook), off"},
    {.name = "stacks",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct run_opts, stacks),
     .value_name = "WHAT",
     .choices = stacks_choices,
     .help =
         "record the stack of each PyTorch or MXNet block: none, python lines, native frames, all"},
    {.name = "sample-hz",
     .type = ML_OPT_INT,
     .offset = offsetof(struct run_opts, sample_hz),
     .value_name = "N",
     .help = "sample GPU memory N times a second, 0: never (1000)",
     .max = ML_SAMPLE_HZ_MAX},
    {.name = "sample-only",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct run_opts, sample_only),
     .help = "leave the program untouched, record samples only"},
    {.name = "wait",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct run_opts, wait),
     .help = "record until every process it started has ended"},
    {.name = "ring-size",
     .type = ML_OPT_BYTES,
     .offset = offsetof(struct run_opts, ring_bytes),
     .value_name = "BYTES",
     .help = "buffer BYTES per thread, a power of two (1 MiB)"},
};

static int fail(int code, const char *text)
{
    ml_say("%s", text);
    return code;
}

/* ---- The collector's process -------------------------------------------- */

static int start_collector(struct run *run, char **argv, struct ml_error *err)
{
    char *command = ml_joined_words(argv);
    char host[HOST_NAME_MAX + 1] = "";
    struct ml_setting settings[] = {
        {"version", MEMLEDGER_VERSION},
        {"command", command ? command : ""},
        {"host", host},
        {"heap", heap_choices[run->opts.heap]},
        {"cuda", cuda_choices[run->opts.cuda]},
        {"stacks", stacks_choices[run->opts.stacks]},
        {"sample_only", run->opts.sample_only ? "yes" : "no"},
        {NULL, NULL},
    };
    struct ml_collector_opts opts = {
        .path = run->trace,
        .force = run->opts.force,
        .settings = settings,
        .launcher = getpid(),
        .program = run->launch.pid,
        .command = command ? command : "",
        .sample_hz = (uint32_t)run->opts.sample_hz,
        .sample_only = run->opts.sample_only,
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
    if (!run->opts.quiet)
        ml_run_progress_show(progress, run->session.page);
}

/* The kernel is more reliable than the collector: a process that has just been started may
 * not have said hello yet. */
static bool others_run(const struct run *run)
{
    int others = ml_launch_has_others(run->collector);

    return others < 0 ? atomic_load(&run->session.page->running) > 0 : others > 0;
}

static int wait_for_program(struct run *run)
{
    struct ml_run_progress progress;
    bool program_ended = false;
    int program_status = 0;

    ml_run_progress_init(&progress);
    while (!program_ended ||
           (run->opts.wait && !run->launch.stops && !run->collector_ended && others_run(run))) {
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
            show_progress(run, &progress);
        }
    }
    if (run->opts.wait)
        run->launch.stops = 0; /* so far they have only ended the wait for other processes */
    ml_run_progress_clear(&progress);
    return program_status;
}

/* ---- The command --------------------------------------------------------- */

/* Precondition: the program was found. */
static int prepare(struct run *run, const char *name, struct ml_error *err)
{
    struct ml_session_opts session = {.heap = (uint32_t)run->opts.heap,
                                      .cuda = (uint32_t)run->opts.cuda,
                                      .operators = run->opts.operators,
                                      .stacks = (uint32_t)run->opts.stacks,
                                      .ring_bytes = ML_RING_BYTES_DEFAULT,
                                      .ring_asked = run->opts.ring_bytes != RING_BYTES_UNSAID};
    const char *library = run->opts.heap ? "libmemledger-heap.so" : "libmemledger.so";
    const char *obstacle;
    int r = ml_recorder_path(library, run->library, err);

    if (session.ring_asked)
        session.ring_bytes = (uint32_t)run->opts.ring_bytes;
    if (r)
        return r;
    if (run->opts.names == NAMES_AUTO)
        ml_bootstrap_path(run->bootstrap);
    obstacle = run->opts.sample_only ? NULL : ml_program_obstacle(run->program, &run->foreign);
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
        .library = run->opts.sample_only || run->foreign ? NULL : run->library,
        .session_dir = run->session.path,
        .cuda_injection = run->opts.cuda == ML_CUDA_INJECTION,
        .bootstrap = run->bootstrap,
    };
    int exec_errno;
    int r = ml_launch_begin(&run->launch, &opts, err);

    if (r) {
        release(run);
        return r;
    }
    atomic_store(&run->session.page->held, 1);
    r = ml_output_name(run->opts.output, argv[0], run->launch.pid, &run->trace, err);
    if (!r)
        r = start_collector(run, argv, err);
    if (r) {
        /* First: a pending signal may end us then. */
        release(run);
        ml_launch_cancel(&run->launch);
        return r;
    }
    if (run->opts.wait)
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

static int run_program(struct run *run, char **argv)
{
    struct ml_error err = {0};
    struct ml_run_result result;
    int status, r;

    ml_launch_init(&run->launch);
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
    result = (struct ml_run_result){
        .trace = run->trace,
        .program = basename(run->program),
        .session_dir = run->session.path,
        .quiet = run->opts.quiet,
        .heap = run->opts.heap,
        .stacks = run->opts.stacks,
        .sample_only = run->opts.sample_only,
        .cuda_injection = run->opts.cuda == ML_CUDA_INJECTION,
        .obstacle = run->obstacle,
        .collector_killed = run->collector_ended && WIFSIGNALED(run->collector_status),
        .collector_left = run->collector_left ? run->collector : 0,
    };
    ml_run_note(&result, run->session.page);
    release(run);
    return ml_launch_exit_code(&run->launch, status);
}

/* The error in a combination of options; NULL: none. */
static const char *contradiction(const struct run_opts *o)
{
    if (o->ring_bytes != RING_BYTES_UNSAID &&
        (o->ring_bytes < 65536 || o->ring_bytes > 256u << 20 ||
         o->ring_bytes & (o->ring_bytes - 1)))
        return "--ring-size must be a power of two from 64KiB to 256MiB";
    if (o->sample_only && !o->sample_hz)
        return "--sample-only with --sample-hz 0 would record nothing";
    if (o->sample_only && o->heap)
        return "--sample-only leaves the program untouched; --heap needs the recorder in it";
    if (o->sample_only && o->stacks)
        return "--sample-only leaves the program untouched; --stacks needs the recorder in it";
    if (o->stacks && o->cuda == ML_CUDA_INJECTION)
        return "--stacks needs the preload that --cuda injection leaves out";
    if (o->heap && o->cuda == ML_CUDA_INJECTION)
        return "--heap needs the preload that --cuda injection leaves out";
    return NULL;
}

static int cmd_run(int argc, char **argv)
{
    struct run run = {.opts = {.output = ML_OUTPUT_DEFAULT,
                               .ring_bytes = RING_BYTES_UNSAID,
                               .sample_hz = ML_SAMPLE_HZ_DEFAULT}};
    const char *wrong;
    int first;
    int r = ml_verb_begin(&ml_verb_run, &run.opts, argc, argv, &first);

    if (r >= 0)
        return r;
    if (first >= argc)
        return ml_verb_usage_error(&ml_verb_run, "name the program to run%s",
                                   run.opts.sample_only ? "; sleep 60 watches for a minute" : "");
    wrong = contradiction(&run.opts);
    if (wrong)
        return ml_verb_usage_error(&ml_verb_run, "%s", wrong);
    return run_program(&run, argv + first);
}

const struct ml_verb ml_verb_run = {
    .name = "run",
    .summary = "record a program and every process it starts",
    .usage = "[OPTION]... [--] PROGRAM [ARGUMENT]...",
    .details = "The exit code is the program's.",
    .group = ML_GROUP_RECORD,
    .operands = ML_OPERANDS_PROGRAM,
    .options_first = true,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = cmd_run,
};
