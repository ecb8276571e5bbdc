/* symbol_workers.c: see symbol_workers.h.
 *
 * The processes take jobs from a counter that they share, and write what they find to a file in
 * memory of their own. A pipe that all of them hold open tells when the last has ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "symbol_workers.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "code_file.h"
#include "io.h"
#include "nanoseconds.h"
#include "readable_name.h"

#define WORKERS_MAX 16
#define LOOK_MS 100
#define TEXT_MAX 32768u
/* Without a job done: longer than libdw waits for a server. Then what was found so far counts. */
#define PATIENCE_NS 120000000000u
#define FLUSH_BYTES (1u << 16)

/* In memory that all processes share. */
struct shared {
    _Atomic uint32_t next; /* job */
    _Atomic uint32_t done;
    _Atomic uint8_t found[]; /* enum ml_symbol_depth by file */
};

/* What a worker writes, before the bytes of the two texts. */
struct note {
    uint32_t place, line, function_bytes, file_bytes;
};

struct worker {
    pid_t pid;
    int fd;
};

struct workers {
    const struct ml_symbol_places *places;
    const struct ml_symbolize_opts *opts;
    struct shared *shared;
    size_t shared_bytes;
    struct worker list[WORKERS_MAX];
    int count;
    int ended; /* read end of the pipe */
};

/* ---- In a worker ------------------------------------------------------------ */

struct reader {
    const struct workers *w;
    struct ml_buf notes;
    int fd;
    bool *named; /* by place */
};

static void flush(struct reader *r)
{
    if (ml_write_all(r->fd, r->notes.data, r->notes.len) < 0)
        _exit(1);
    ml_buf_clear(&r->notes);
}

static uint32_t text_bytes(const char *text)
{
    return text ? (uint32_t)strnlen(text, TEXT_MAX) : 0;
}

static void take_note(void *ctx, const struct ml_symbol_place *place,
                      const struct ml_code_line *line)
{
    struct reader *r = ctx;
    char *readable = line->function ? ml_readable_name(line->function) : NULL;
    const char *function = readable ? readable : line->function;
    struct note note = {
        .place = (uint32_t)(place - r->w->places->list.items),
        .line = line->line,
        .function_bytes = text_bytes(function),
        .file_bytes = text_bytes(line->file),
    };

    r->named[note.place] = true;
    if (ml_buf_append(&r->notes, &note, sizeof(note)) ||
        ml_buf_append(&r->notes, function, note.function_bytes) ||
        ml_buf_append(&r->notes, line->file, note.file_bytes))
        _exit(1);
    free(readable);
    if (r->notes.len > FLUSH_BYTES)
        flush(r);
}

static void raise_found(const struct workers *w, uint32_t file, enum ml_symbol_depth found)
{
    _Atomic uint8_t *best = &w->shared->found[file];
    uint8_t old = atomic_load(best);

    while (old < found && !atomic_compare_exchange_weak(best, &old, (uint8_t)found))
        ;
}

/* Runs of places whose function neither the trace nor debug information knows. */
static void name_others(struct reader *r, const struct ml_code_search *search,
                        const struct ml_symbol_place *places, uint32_t count)
{
    const struct ml_symbol_place *all = r->w->places->list.items;

    for (uint32_t from = 0, to; from < count; from = to + 1) {
        for (to = from; to < count && !places[to].named && !r->named[places + to - all];)
            to++;
        if (to > from)
            raise_found(r->w, places->file, ml_code_symbols(search, places + from, to - from));
    }
}

static enum ml_symbol_depth find_lines(const struct ml_code_search *search,
                                       const struct ml_symbol_place *places, uint32_t count)
{
#ifdef ML_LIBDW_VERSION
    return ml_code_lines(search, places, count);
#else
    (void)search;
    (void)places;
    (void)count;
    return ML_SYMBOLS_NO_FILE;
#endif
}

static void do_job(struct reader *r, const struct ml_symbol_job *job)
{
    const struct ml_symbol_place *places = &r->w->places->list.items[job->first];
    struct ml_code_search search = {
        .sysroot = r->w->opts->sysroot,
        .debug_dir = r->w->opts->debug_dir,
        .found = take_note,
        .ctx = r,
    };

    raise_found(r->w, places->file, find_lines(&search, places, job->count));
    name_others(r, &search, places, job->count);
    flush(r);
    atomic_fetch_add(&r->w->shared->done, job->count);
}

/* Ends by a signal that asks the command to end, and with the command. */
static void settle_in(void)
{
    sigset_t none;

    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

static void work(const struct workers *w, int fd)
{
    struct reader r = {.w = w, .fd = fd};
    uint32_t job;

    settle_in();
    r.named = calloc(w->places->list.len, sizeof(*r.named));
    if (!r.named)
        _exit(1);
    while ((job = atomic_fetch_add(&w->shared->next, 1)) < w->places->jobs.len)
        do_job(&r, &w->places->jobs.items[job]);
    _exit(0);
}

/* ---- In the command --------------------------------------------------------- */

static int processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

static int start_worker(struct workers *w, const int ended[2])
{
    struct worker worker = {.fd = memfd_create("memledger-symbols", MFD_CLOEXEC)};

    if (worker.fd < 0)
        return -errno;
    worker.pid = fork();
    if (worker.pid == 0) {
        close(ended[0]);
        work(w, worker.fd);
    }
    if (worker.pid < 0) {
        close(worker.fd);
        return -errno;
    }
    w->list[w->count++] = worker;
    return 0;
}

/* One that cannot be started is done without, unless it is the first. */
static int start_workers(struct workers *w)
{
    size_t wanted = w->places->jobs.len;
    int ended[2], r = 0;

    wanted = wanted < (size_t)processors() ? wanted : (size_t)processors();
    wanted = wanted < WORKERS_MAX ? wanted : WORKERS_MAX;
    if (pipe(ended))
        return -errno;
    while (r == 0 && (size_t)w->count < wanted)
        r = start_worker(w, ended);
    close(ended[1]);
    w->ended = ended[0];
    return w->count > 0 ? 0 : r;
}

static bool is_stopped(const struct workers *w)
{
    return w->opts->stops && w->opts->stops(w->opts->ctx);
}

/* @return false: they take too long */
static bool wait_for_pipe(const struct workers *w)
{
    struct pollfd end = {.fd = w->ended, .events = POLLIN};
    uint64_t since_ns = ml_clock_ns(CLOCK_MONOTONIC);
    uint32_t before = 0;

    while (poll(&end, 1, LOOK_MS) <= 0 && !is_stopped(w)) {
        uint32_t done = atomic_load(&w->shared->done);
        uint64_t now_ns = ml_clock_ns(CLOCK_MONOTONIC);

        ml_progress_tell(w->opts->progress, done, w->places->list.len);
        if (done != before)
            since_ns = now_ns;
        else if (now_ns - since_ns > PATIENCE_NS)
            return false;
        before = done;
    }
    return true;
}

static bool asked_to_end(int status)
{
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

/* @return 0 or -EINTR */
static int wait_for_workers(struct workers *w)
{
    bool in_time = wait_for_pipe(w), stopped = is_stopped(w);
    int r = stopped ? -EINTR : 0;

    for (int i = 0; i < w->count; i++) {
        int status = 0;

        if (stopped || !in_time)
            kill(w->list[i].pid, SIGKILL);
        while (waitpid(w->list[i].pid, &status, 0) < 0 && errno == EINTR)
            ;
        if (asked_to_end(status))
            r = -EINTR;
    }
    return r;
}

static uint32_t keep_text(struct ml_symbol_rows *rows, const uint8_t *bytes, uint32_t len)
{
    size_t at = rows->texts.len;

    if (len == 0 || at + len + 1 > UINT32_MAX || ml_buf_append(&rows->texts, bytes, len) ||
        ml_buf_append(&rows->texts, "", 1))
        return 0;
    return (uint32_t)at;
}

/* The last note of a worker that crashed may be incomplete. */
static int read_notes(const uint8_t *in, size_t len, struct ml_symbol_rows *rows)
{
    struct note note;

    while (len >= sizeof(note)) {
        size_t texts;

        memcpy(&note, in, sizeof(note));
        texts = (size_t)note.function_bytes + note.file_bytes;
        if (len - sizeof(note) < texts)
            break;
        in += sizeof(note);
        if (ml_vec_push(&rows->list,
                        (struct ml_symbol_row){
                            .place = note.place,
                            .line = note.line,
                            .function = keep_text(rows, in, note.function_bytes),
                            .file = keep_text(rows, in + note.function_bytes, note.file_bytes),
                        }))
            return -ENOMEM;
        in += texts;
        len -= sizeof(note) + texts;
    }
    return 0;
}

static int read_worker(const struct worker *worker, struct ml_symbol_rows *rows)
{
    struct ml_buf bytes = {0};
    struct stat st;
    int r = fstat(worker->fd, &st) ? -errno : ml_buf_reserve(&bytes, (size_t)st.st_size);

    if (r == 0)
        r = ml_pread_all(worker->fd, bytes.data, (size_t)st.st_size, 0);
    if (r == 0)
        r = read_notes(bytes.data, (size_t)st.st_size, rows);
    ml_buf_release(&bytes);
    return r;
}

static int read_all(const struct workers *w, struct ml_symbol_rows *ret)
{
    int r = ml_buf_append(&ret->texts, "", 1);

    for (int i = 0; r == 0 && i < w->count; i++)
        r = read_worker(&w->list[i], ret);
    for (uint32_t i = 0; r == 0 && i < w->places->files; i++)
        r = ml_vec_push(&ret->found, atomic_load(&w->shared->found[i]));
    return r;
}

int ml_symbol_workers(const struct ml_symbol_places *places, const struct ml_symbolize_opts *opts,
                      struct ml_symbol_rows *ret)
{
    struct workers w = {.places = places, .opts = opts, .ended = -1};
    int r;

    *ret = (struct ml_symbol_rows){0};
    w.shared_bytes = sizeof(*w.shared) + places->files;
    w.shared =
        mmap(NULL, w.shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w.shared == MAP_FAILED)
        return -errno;
    r = places->jobs.len > 0 ? start_workers(&w) : 0;
    if (w.ended >= 0) {
        int waited = wait_for_workers(&w);

        r = r < 0 ? r : waited;
        close(w.ended);
    }
    if (r == 0)
        r = read_all(&w, ret);
    for (int i = 0; i < w.count; i++)
        close(w.list[i].fd);
    munmap(w.shared, w.shared_bytes);
    return r;
}

void ml_symbol_rows_release(struct ml_symbol_rows *rows)
{
    ml_vec_release(&rows->list);
    ml_buf_release(&rows->texts);
    ml_vec_release(&rows->found);
}
