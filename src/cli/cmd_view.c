/* cmd_view.c: `memledger view`: recordings in the browser.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "instant_command.h"
#include "say.h"
#include "verbs.h"
#if ML_WITH_VIEWER
#include "browser.h"
#include "server.h"
#include "view_files.h"
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

#if ML_WITH_VIEWER
#define ADDRESS_MAX 256
#define SALVAGE "#salvage=true" /* as the page writes its state */

struct view {
    struct ml_served_files files;
    struct ml_private_folder folder;
    sigset_t ends; /* Ctrl-C, and what asks a program to end */
    int ends_fd;   /* readable when one of them has arrived */
    bool salvage;  /* the first file is damaged */
};

/* Threads that start later inherit the mask, so that only this one sees these signals. */
static int begin(struct view *view, struct ml_error *err)
{
    ml_served_files_init(&view->files);
    sigemptyset(&view->ends);
    sigaddset(&view->ends, SIGINT);
    sigaddset(&view->ends, SIGTERM);
    sigaddset(&view->ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &view->ends, NULL);
    view->ends_fd = signalfd(-1, &view->ends, SFD_CLOEXEC);
    if (view->ends_fd < 0)
        return ml_error_set(err, -errno, "signalfd: %s", strerror(errno));
    return ml_private_folder_make(&view->folder, err);
}

static void end(struct view *view)
{
    ml_private_folder_remove(&view->folder);
    ml_served_files_release(&view->files);
    if (view->ends_fd >= 0)
        close(view->ends_fd);
}

static int add_files(struct view *view, char *const *paths, size_t count)
{
    const struct ml_opening opening = {
        .folder = &view->folder, .stop_fd = view->ends_fd, .show = true};
    int status = ML_EXIT_OK;

    if (count == 0)
        ml_view_add_recent(&view->files);
    for (size_t i = 0; i < count && status == ML_EXIT_OK; i++) {
        bool damaged = false;

        status = ml_view_add_file(&view->files, &opening, paths[i], &damaged);
        view->salvage |= i == 0 && damaged;
    }
    return status;
}

static int serve(struct view *view, const struct view_opts *opts)
{
    const struct ml_server_opts server_opts = {
        .port = (uint16_t)opts->port, .files = &view->files, .folder = &view->folder};
    struct ml_error err = {0};
    struct ml_server *server = ml_server_start(&server_opts, &err);
    char address[ADDRESS_MAX];
    int signal;

    if (!server)
        return ml_report_fail(&err);
    snprintf(address, sizeof(address), "%s%s", ml_server_address(server),
             view->salvage ? SALVAGE : "");
    printf("%s\n", address);
    fflush(stdout);
    ml_say("press Ctrl-C to end");
    if (!opts->no_open)
        ml_browser_open(&view->folder, address);
    sigwait(&view->ends, &signal);
    ml_server_stop(server);
    return ML_EXIT_OK;
}

static int show(const struct view_opts *opts, char *const *paths, size_t count)
{
    static struct view view;
    struct ml_error err = {0};
    int status = begin(&view, &err) < 0 ? ml_report_fail(&err) : add_files(&view, paths, count);

    if (status == ML_EXIT_OK)
        status = serve(&view, opts);
    end(&view);
    return status;
}

#else
static int show(const struct view_opts *opts, char *const *paths, size_t count)
{
    (void)opts, (void)paths, (void)count;
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
    return show(&opts, &argv[first], (size_t)(argc - first));
}

const struct ml_verb ml_verb_view = {
    .name = "view",
    .summary = "look at recordings in the browser",
    .usage = "[OPTION]... [FILE]...",
    .details = "Serves a page on this machine only and prints its address. Every number on it is\n"
               "one that a command prints, and the page names the command. Files of other tools\n"
               "are imported first. FILE may be a folder with the recordings of a job. Without\n"
               "FILE, the page lists recent recordings.",
    .group = ML_GROUP_LOOK,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
