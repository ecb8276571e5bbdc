/* cmd_view.c: `memledger view`: recordings in the browser.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "instant_command.h"
#include "say.h"
#include "verbs.h"
#if ML_WITH_VIEWER
#include "server.h"
#endif

struct view_opts {
    int64_t port;
    bool no_open;
};

static const struct ml_option options[] = {
    {.name = "port",
     .type = ML_OPT_INT,
     .offset = offsetof(struct view_opts, port),
     .value_name = "N",
     .help = "listen on this port (default: any that is free)",
     .min = 1,
     .max = 65535},
    {.name = "no-open",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct view_opts, no_open),
     .help = "do not open a browser; print the address only"},
};

/* A file that cannot be opened is an error now, not a page without numbers. A long trace without
 * checkpoints gets them now, once, not by each of the page's first questions. */
static int check_files(char *const *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ml_trace *trace = ml_instant_open(files[i], &(struct ml_instant_opts){0});

        if (!trace)
            return ML_EXIT_FAILURE;
        ml_trace_free(trace);
    }
    return ML_EXIT_OK;
}

#if ML_WITH_VIEWER
/* Nothing may be known about the browser: the address is printed in any case. */
static void open_browser(const char *address)
{
    char *argv[] = {(char *)"xdg-open", (char *)(uintptr_t)address, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;

    if (posix_spawn_file_actions_init(&actions))
        return;
    if (!posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) &&
        !posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO))
        posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
}

/* Ctrl-C, and what asks a program to end. */
static sigset_t ending_signals(void)
{
    sigset_t ends;

    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    return ends;
}

static int serve(const struct view_opts *opts, char *const *files, size_t count)
{
    sigset_t ends = ending_signals();
    struct ml_error err = {0};
    struct ml_server *server;
    int signal;

    /* Threads that start later inherit it, so that only sigwait sees these signals. */
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    server = ml_server_start((uint16_t)opts->port, (const char *const *)files, count, &err);
    if (!server)
        return ml_report_fail(&err);
    printf("%s\n", ml_server_address(server));
    fflush(stdout);
    ml_say("press Ctrl-C to end");
    if (!opts->no_open)
        open_browser(ml_server_address(server));
    sigwait(&ends, &signal);
    ml_server_stop(server);
    return ML_EXIT_OK;
}

#else
static int serve(const struct view_opts *opts, char *const *files, size_t count)
{
    (void)opts, (void)files, (void)count;
    ml_say("this memledger was built without the page; build it where libmicrohttpd and npm are");
    return ML_EXIT_FAILURE;
}
#endif

static int run(int argc, char **argv)
{
    struct view_opts opts = {0};
    int first, status = ml_verb_begin(&ml_verb_view, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    if (first == argc)
        return ml_verb_usage_error(&ml_verb_view, "no trace given; name one or more .mled files");
    status = check_files(&argv[first], (size_t)(argc - first));
    return status == ML_EXIT_OK ? serve(&opts, &argv[first], (size_t)(argc - first)) : status;
}

const struct ml_verb ml_verb_view = {
    .name = "view",
    .summary = "look at recordings in the browser",
    .usage = "[OPTION]... FILE...",
    .details = "Serves a page on this machine only and prints its address. Every number on it is\n"
               "one that a command prints, and the page names the command.",
    .group = ML_GROUP_LOOK,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
