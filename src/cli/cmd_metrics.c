/* cmd_metrics.c: `memledger metrics`: numbers of running recordings for Prometheus.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io.h"
#include "live_target.h"
#include "metrics_report.h"
#include "part_file.h"
#include "report_command.h"
#include "running_traces.h"
#include "say.h"
#include "verbs.h"
#if ML_WITH_VIEWER
#include "metrics_server.h"
#endif

struct metrics_opts {
    struct ml_report_opts report; /* first, as ml_report_fail's users do */
    const char *listen;
    const char *textfile;
    bool once;
    int64_t top;
    double interval_s;
};

static const struct ml_option options[] = {
    {.name = "listen",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct metrics_opts, listen),
     .value_name = "ADDRESS:PORT",
     .help = "answer GET /metrics there (127.0.0.1:9469)"},
    {.name = "textfile",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct metrics_opts, textfile),
     .value_name = "FILE",
     .help = "write FILE instead, for node_exporter: its name ends in .prom"},
    {.name = "interval",
     .type = ML_OPT_NUMBER,
     .offset = offsetof(struct metrics_opts, interval_s),
     .value_name = "SECONDS",
     .help = "with --textfile: write it every SECONDS (15)",
     .min = 1,
     .max = 86400},
    {.name = "once",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct metrics_opts, once),
     .help = "print the numbers, or write FILE, once"},
    {.name = "top",
     .letter = 'n',
     .type = ML_OPT_INT,
     .offset = offsetof(struct metrics_opts, top),
     .value_name = "N",
     .help = "list the N largest modules (20) and add up the others",
     .min = 0,
     .max = 1000},
};

/* ---- The recordings ------------------------------------------------------------- */

struct watched {
    struct ml_following *following;
    bool named; /* by the user: it stays when it has ended */
};

struct metrics {
    const struct metrics_opts *opts;
    bool all;             /* that are recorded on this machine */
    pthread_mutex_t lock; /* for what follows: the server has its own thread */
    ML_VEC(struct watched) list;
};

static int watch(struct metrics *m, const char *path, bool named, struct ml_error *err)
{
    struct watched w = {.named = named};
    char *absolute = realpath(path, NULL); /* one recording has one name */
    int r = 0;

    path = absolute ? absolute : path;
    for (size_t i = 0; i < m->list.len; i++)
        if (strcmp(m->list.items[i].following->path, path) == 0)
            goto out;
    r = ml_following_open(path, &w.following, err);
    if (r == 0 && ml_vec_push(&m->list, w) < 0) {
        ml_following_free(w.following);
        r = ml_error_set(err, -ENOMEM, "out of memory");
    }
out:
    free(absolute);
    return r;
}

static void watch_running(struct metrics *m)
{
    struct ml_running_traces running;

    ml_running_read(&running);
    for (size_t i = 0; i < running.list.len; i++) {
        struct ml_error err = {0};

        (void)watch(m, running.list.items[i].path, false, &err); /* it may be gone meanwhile */
    }
    ml_running_release(&running);
}

/* Reads on; a recording that was found and has ended, or cannot be read any more, is dropped. */
static void read_on(struct metrics *m)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->list.len; i++) {
        struct watched w = m->list.items[i];
        struct ml_error err = {0};
        int r = ml_following_poll(w.following, &err);
        bool ended =
            r < 0 || !w.following->trace || !ml_trace_info(w.following->trace)->being_written;

        if (ended && (!w.named || !w.following->trace))
            ml_following_free(w.following);
        else
            m->list.items[kept++] = w;
    }
    m->list.len = kept;
}

static int describe(struct ml_following *f, size_t top, struct ml_metrics_run *ret)
{
    const struct ml_live_question category = {.by = ML_KEY_CATEGORY, .top = SIZE_MAX};
    const struct ml_live_question module = {.by = ML_KEY_MODULE, .top = top};
    struct ml_error err = {0};
    int r;

    *ret = (struct ml_metrics_run){.file = f->path};
    r = ml_live_view(f, &category, &ret->by_category, &err);
    return r < 0 ? r : ml_live_view(f, &module, &ret->by_module, &err);
}

static int make_text_locked(struct metrics *m, struct ml_buf *out)
{
    struct ml_metrics_run *runs;
    size_t done = 0;
    int r = 0;

    if (m->all)
        watch_running(m);
    read_on(m);
    runs = calloc(m->list.len + 1, sizeof(*runs));
    if (!runs)
        return -ENOMEM;
    for (; r == 0 && done < m->list.len; done++)
        r = describe(m->list.items[done].following, (size_t)m->opts->top, &runs[done]);
    if (r == 0)
        r = ml_metrics_text(runs, m->list.len,
                            m->opts->textfile ? ML_METRICS_0_0_4 : ML_METRICS_OPEN, out);
    for (size_t i = 0; i < done; i++) {
        ml_live_view_release(&runs[i].by_category);
        ml_live_view_release(&runs[i].by_module);
    }
    free(runs);
    return r;
}

static int make_text(void *ctx, struct ml_buf *out)
{
    struct metrics *m = ctx;
    int r;

    pthread_mutex_lock(&m->lock);
    r = make_text_locked(m, out);
    pthread_mutex_unlock(&m->lock);
    return r;
}

/* ---- Ways out ---------------------------------------------------------------------- */

static int fail(const char *what, const char *on, int code)
{
    ml_say("cannot %s %s: %s", what, on, strerror(-code));
    return ML_EXIT_FAILURE;
}

static int print(struct metrics *m)
{
    struct ml_buf text = {0};
    int r = make_text(m, &text), status;

    status = r < 0 ? fail("make", "the numbers", r) : ml_report_write(&text);
    ml_buf_release(&text);
    return status;
}

/* A folder that is not there is a wrong name: node_exporter would not look into a new one. */
static int check_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int r = !folder ? -ENOMEM : access(folder, F_OK) == 0 ? 0 : -errno;

    free(folder);
    return r;
}

/* A reader sees the old file or the new one. */
static int write_file(struct metrics *m, const char *path)
{
    struct ml_buf text = {0};
    char *part = NULL;
    int r = check_folder(path), fd = -1;

    if (r == 0)
        r = make_text(m, &text);
    if (r == 0)
        fd = ml_part_make(path, &part);
    if (r == 0)
        r = fd < 0 ? fd : ml_write_all(fd, text.data, text.len);
    if (fd >= 0) {
        fchmod(fd, 0644); /* node_exporter has a user of its own */
        close(fd);
    }
    if (r == 0)
        r = ml_part_place(part, path, true);
    if (r < 0 && part)
        unlink(part);
    free(part);
    ml_buf_release(&text);
    return r < 0 ? fail("write", path, r) : ML_EXIT_OK;
}

/* Waits for Ctrl-C, or that long, and reads on every second meanwhile: the collector keeps the nets
 * of its last blocks only for a few seconds. @return whether to go on */
static bool sleep_or_end(struct metrics *m, const sigset_t *ends, double seconds)
{
    const struct timespec second = {1, 0};

    for (; seconds > 0; seconds--) {
        if (sigtimedwait(ends, NULL, &second) >= 0 || errno != EAGAIN)
            return false;
        pthread_mutex_lock(&m->lock);
        read_on(m);
        pthread_mutex_unlock(&m->lock);
    }
    return true;
}

static int write_files(struct metrics *m, const sigset_t *ends)
{
    int status;

    do
        status = write_file(m, m->opts->textfile);
    while (status == ML_EXIT_OK && !m->opts->once && sleep_or_end(m, ends, m->opts->interval_s));
    return status;
}

static int serve(struct metrics *m, const sigset_t *ends)
{
#if ML_WITH_VIEWER
    struct ml_error err = {0};
    struct ml_metrics_server *server = ml_metrics_server_start(m->opts->listen, make_text, m, &err);

    if (!server && err.code == -EINVAL)
        return ml_verb_usage_error(&ml_verb_metrics, "--listen: %s; write it as 127.0.0.1:9469",
                                   err.text);
    if (!server)
        return ml_report_fail(&err);
    ml_say("metrics on http://%s/metrics; end with Ctrl-C", m->opts->listen);
    while (sleep_or_end(m, ends, 1))
        continue;
    ml_metrics_server_stop(server);
    return ML_EXIT_OK;
#else
    (void)m;
    (void)ends;
    ml_say("this memledger was built without libmicrohttpd; use --textfile or --once");
    return ML_EXIT_FAILURE;
#endif
}

static bool is_read_by_exporter(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && !strcmp(dot, ".prom");
}

/* Options that would be ignored. @return an exit status, negative: there are none */
static int check_options(const struct metrics_opts *opts)
{
    if (opts->textfile && !is_read_by_exporter(opts->textfile))
        return ml_verb_usage_error(&ml_verb_metrics, "node_exporter reads only files whose names "
                                                     "end in .prom; choose such a name");
    if (opts->interval_s && !opts->textfile)
        return ml_verb_usage_error(&ml_verb_metrics, "--interval needs --textfile");
    if (opts->interval_s && opts->once)
        return ml_verb_usage_error(&ml_verb_metrics, "choose either --interval or --once");
    if (opts->listen && (opts->textfile || opts->once))
        return ml_verb_usage_error(&ml_verb_metrics, "choose either --listen or %s",
                                   opts->textfile ? "--textfile" : "--once");
    return -1;
}

static int run(int argc, char **argv)
{
    struct metrics_opts opts = {.top = 20};
    struct metrics m = {.opts = &opts, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct ml_error err = {0};
    sigset_t ends;
    int first, status = ml_verb_begin(&ml_verb_metrics, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    status = check_options(&opts);
    if (status >= 0)
        return status;
    if (!opts.listen)
        opts.listen = "127.0.0.1:9469";
    if (!opts.interval_s)
        opts.interval_s = 15;
    m.all = first == argc;
    status = ML_EXIT_OK;
    for (int i = first; i < argc && status == ML_EXIT_OK; i++) {
        char *path = NULL;

        if (ml_live_target(argv[i], &path, &err) < 0 || watch(&m, path, true, &err) < 0)
            status = ml_report_fail(&err);
        free(path);
    }
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    if (status == ML_EXIT_OK)
        status = opts.textfile ? write_files(&m, &ends) : opts.once ? print(&m) : serve(&m, &ends);
    for (size_t i = 0; i < m.list.len; i++)
        ml_following_free(m.list.items[i].following);
    ml_vec_release(&m.list);
    return status;
}

const struct ml_verb ml_verb_metrics = {
    .name = "metrics",
    .summary = "publish numbers of running programs for Prometheus",
    .usage = "[OPTION]... [FILE|PID]...",
    .details = "Without files or processes: all that is being recorded on this machine.",
    .group = ML_GROUP_EXCHANGE,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
