/* cmd_collect.c: `memledger collect`: a collector for a running process.
 *
 * The Python package starts this hidden command. It creates session and
 * trace, prints their paths and the collector's pid, and ends; the collector is
 * reparented, so that the program's own waits for children are not affected. It runs
 * until the session says finish, or until the program has ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector_process.h"
#include "command_line.h"
#include "compiler.h"
#include "event.h"
#include "recorder_calls.h"
#include "run_program.h"
#include "sampler.h"
#include "say.h"
#include "verbs.h"

struct collect_opts {
    const char *output;
    const char *place, *place_inside;
    int64_t starter_fd; /* 0: none */
    bool force;
    int64_t pid;
    int64_t sample_hz;
    int stacks; /* enum ml_stacks_mode */
    bool heap;
    bool cuda;
};

static const struct ml_option options[] = {
    {.name = "output",
     .letter = 'o',
     .no_env = true,
     .type = ML_OPT_STRING,
     .offset = offsetof(struct collect_opts, output),
     .value_name = "FILE",
     .help = "write the trace to FILE"},
    {.name = "force",
     .letter = 'f',
     .no_env = true,
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct collect_opts, force),
     .help = "overwrite an existing file"},
    {.name = "pid",
     .no_env = true,
     .type = ML_OPT_INT,
     .offset = offsetof(struct collect_opts, pid),
     .value_name = "PID",
     .help = "collect from this process",
     .min = 1,
     .max = INT_MAX},
    {.name = "place",
     .no_env = true,
     .type = ML_OPT_STRING,
     .offset = offsetof(struct collect_opts, place),
     .value_name = "FOLDER",
     .help = "make the session's folder in FOLDER"},
    {.name = "place-inside",
     .no_env = true,
     .type = ML_OPT_STRING,
     .offset = offsetof(struct collect_opts, place_inside),
     .value_name = "FOLDER",
     .help = "the path of that folder in the process's container"},
    {.name = "starter-fd",
     .no_env = true,
     .type = ML_OPT_INT,
     .offset = offsetof(struct collect_opts, starter_fd),
     .value_name = "FD",
     .help = "give up if this pipe ends before the process joins",
     .max = INT_MAX},
    {.name = "sample-hz",
     .type = ML_OPT_INT,
     .offset = offsetof(struct collect_opts, sample_hz),
     .value_name = "N",
     .help = "sample GPU memory N times a second, 0: never (1000)",
     .max = ML_SAMPLE_HZ_MAX},
    {.name = "heap",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct collect_opts, heap),
     .help = "record malloc"},
    {.name = "cuda",
     .no_env = true,
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct collect_opts, cuda),
     .help = "record calls of the CUDA driver"},
    {.name = "stacks",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct collect_opts, stacks),
     .value_name = "WHAT",
     .choices = ml_stacks_choices,
     .help = "record the stack of each block: none, python lines, native frames, all"},
};

static int new_collector(const struct collect_opts *opts, const struct ml_ticks *ticks,
                         const char *command, struct ml_session_dir *session,
                         struct ml_collector **ret, struct ml_error *err)
{
    char host[HOST_NAME_MAX + 1] = "";
    struct ml_setting settings[] = {
        {"version", MEMLEDGER_VERSION},
        {"command", command},
        {"host", host},
        {"heap", ml_heap_choices[opts->heap ? ML_HEAP_MALLOC : ML_HEAP_OFF]},
        {ML_SETTING_CUDA, opts->cuda ? ML_CUDA_ATTACHED : "off"},
        {"sample_only", "no"},
        {"stacks", ml_stacks_choices[opts->stacks]},
        {ML_SETTING_JOINED, "yes"},
        {opts->heap ? ML_SETTING_BEGAN_LATE : NULL, "yes"},
        {NULL, NULL},
    };
    struct ml_collector_opts collector = {
        .path = opts->output,
        .force = opts->force,
        .settings = settings,
        .launcher = (pid_t)opts->pid,
        .program = (pid_t)opts->pid,
        .command = command,
        .sample_hz = (uint32_t)opts->sample_hz,
        .runs = true,
        .starter_fd = (int)opts->starter_fd,
        .own_root = opts->place_inside,
    };

    gethostname(host, sizeof(host) - 1);
    return ml_collector_new(&collector, session, ticks, ret, err);
}

static int start(const struct collect_opts *opts, struct ml_session_dir *session,
                 struct ml_error *err)
{
    struct ml_session_opts session_opts = {.target = (pid_t)opts->pid,
                                           .parent = opts->place,
                                           .parent_inside = opts->place_inside,
                                           .heap = opts->heap ? ML_HEAP_MALLOC : ML_HEAP_OFF,
                                           .cuda = opts->cuda ? ML_CUDA_INJECTION : ML_CUDA_OFF,
                                           .stacks = (uint32_t)opts->stacks,
                                           .ring_bytes = ML_RING_BYTES_DEFAULT};
    static char command[4096]; /* the collector keeps the pointer */
    struct ml_collector *collector;
    struct ml_ticks ticks;
    pid_t pid = -1;
    int r;

    ml_command_line_of((uint32_t)opts->pid, command, sizeof(command));
    ml_ticks_init(&ticks);
    session_opts.clock = ticks.mode;
    r = ml_session_dir_init(session, &session_opts, err);
    if (r)
        return r;
    r = new_collector(opts, &ticks, command, session, &collector, err);
    if (!r)
        pid = fork();
    if (pid == 0) {
        ml_collector_sign(collector);
        ml_be_collector(collector, session, 0);
    }
    if (!r && pid < 0) {
        r = ml_error_set(err, -errno, "cannot start the collector: %s", strerror(errno));
        ml_collector_discard(collector);
    }
    if (r) {
        ml_session_dir_release(session);
        return r;
    }
    printf("%s\n%d\n", session->path, (int)pid);
    return fflush(stdout) ? -errno : 0;
}

/* Invalid descriptor, address and process: the kernel refuses such a call once the filters have
 * allowed it. */
#define NOTHING (-1L)

static long call_argument(const struct ml_recorder_call *call, int i)
{
    return call->known >> i & 1 ? (long)call->args[i] : NOTHING;
}

/* Makes each system call of the recorder once, without effect. If an inherited seccomp filter
 * kills for one, it kills this process, not the one to be
 * recorded. */
static void try_recorder_calls(void)
{
    for (size_t i = 0; i < ML_ARRAY_SIZE(ml_recorder_calls); i++) {
        const struct ml_recorder_call *call = &ml_recorder_calls[i];
        long result = syscall((long)call->number, call_argument(call, 0), call_argument(call, 1),
                              call_argument(call, 2), call_argument(call, 3), NOTHING, NOTHING);

        if (call->number == SYS_socket && result >= 0)
            close((int)result);
    }
}

static int cmd_collect(int argc, char **argv)
{
    struct collect_opts opts = {.sample_hz = ML_SAMPLE_HZ_DEFAULT};
    struct ml_session_dir session;
    struct ml_error err = {0};
    int first;
    int r = ml_verb_begin(&ml_verb_collect, &opts, argc, argv, &first);

    if (r >= 0)
        return r;
    if (!opts.output || !opts.pid || first < argc)
        return ml_verb_usage_error(&ml_verb_collect, "--output and --pid are needed, nothing else");
    try_recorder_calls();
    r = start(&opts, &session, &err);
    if (r)
        ml_say("%s", err.text);
    return r ? ML_EXIT_FAILURE : ML_EXIT_OK;
}

const struct ml_verb ml_verb_collect = {
    .name = "collect",
    .summary = "collect from a running process",
    .usage = "--pid=PID --output=FILE",
    .details = "The Python package runs this command.",
    .group = ML_GROUP_HIDDEN,
    .operands = ML_OPERANDS_NONE,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = cmd_collect,
};
