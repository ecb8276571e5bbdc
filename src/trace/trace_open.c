/* trace_open.c: opens a trace: its header, its list of blocks, its definitions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trace_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_lock.h"
#include "io.h"
#include "nanoseconds.h"

/* How often to begin at most, if new recordings take the place of the one that is opened. */
#define TRIES 10

static int check_file(struct ml_trace *t, struct ml_error *err)
{
    struct stat st;

    if (fstat(t->fd, &st))
        return ml_error_set(err, -errno, "%s: %s", t->path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return ml_error_set(err, -EISDIR, "%s: is a directory; give a trace file", t->path);
    if (!S_ISREG(st.st_mode))
        return ml_error_set(err, -ESPIPE,
                            "%s: is not a regular file; copy the trace to one and read that",
                            t->path);
    t->info.file_bytes = (uint64_t)st.st_size;
    return 0;
}

static int version_error(const struct ml_trace *t, const struct ml_file_header *h,
                         struct ml_error *err)
{
    if (h->major > ML_FORMAT_MAJOR)
        return ml_error_set(err, -EPROTONOSUPPORT,
                            "%s: has trace format %u.%u, newer than %u, which this memledger "
                            "reads; update memledger",
                            t->path, h->major, h->minor, ML_FORMAT_MAJOR);
    if (h->major < ML_FORMAT_MAJOR)
        return ml_error_set(err, -EPROTONOSUPPORT,
                            "%s: has trace format %u.%u, older than %u, which this memledger "
                            "reads; use the version that wrote it",
                            t->path, h->major, h->minor, ML_FORMAT_MAJOR);
    return ml_error_set(err, -EPROTONOSUPPORT,
                        "%s: needs features (bits %#" PRIx32
                        ") that this memledger does not have; update memledger",
                        t->path, h->features);
}

/* A newcomer may name the program in place of its recording. */
static int foreign_error(const struct ml_trace *t, size_t len, struct ml_error *err)
{
    const char *dot = strrchr(t->path, '.');
    bool is_python = dot && strcmp(dot, ".py") == 0;

    if (is_python ||
        (len >= 4 && (memcmp(t->header, "\177ELF", 4) == 0 || memcmp(t->header, "#!", 2) == 0)))
        return ml_error_set(err, -EINVAL,
                            "%s: is a program, not a trace; memledger run -o FILE -- %s%s records "
                            "it",
                            t->path, is_python ? "python3 " : "", t->path);
    return ml_error_set(err, -EINVAL,
                        "%s: is not a memledger trace; give a file that memledger run wrote",
                        t->path);
}

static int short_file_error(const struct ml_trace *t, size_t len, struct ml_error *err)
{
    static const uint8_t first_byte = 0x89;

    if (!len)
        return ml_error_set(err, -ENODATA, "%s: is empty; the run that wrote it recorded nothing",
                            t->path);
    if (t->header[0] != first_byte)
        return foreign_error(t, len, err);
    return ml_error_set(err, -ENODATA,
                        "%s: ends at byte %zu, inside the file header; nothing can be read from it",
                        t->path, len);
}

/* With salvage a damaged header costs the wall-clock time only: every block has its own magic
 * and checksum. */
static int check_header(struct ml_trace *t, struct ml_error *err)
{
    struct ml_file_header h;

    switch (ml_file_header_get(t->header, &h)) {
    case ML_FRAME_OK: t->info.start_wall_ns = h.start_wall_ns; return 0;
    case ML_FRAME_TOO_NEW: return version_error(t, &h, err);
    case ML_FRAME_DAMAGED:
        if (t->salvage) {
            ml_trace_count_damage(t, 0, 0);
            return 0;
        }
        return ml_error_set(err, -EBADMSG,
                            "%s: the file header, bytes 0 to %d, is damaged (checksum); "
                            "%s reads the rest",
                            t->path, ML_FILE_HEADER_BYTES - 1, t->salvage_by);
    default: return foreign_error(t, sizeof(t->header), err);
    }
}

static int load_header(struct ml_trace *t, struct ml_error *err)
{
    size_t len = (size_t)ml_min_u64(sizeof(t->header), t->info.file_bytes);
    int code = ml_pread_all(t->fd, t->header, len, 0);

    if (code)
        return ml_error_set(err, code, "%s: cannot read it: %s", t->path, strerror(-code));
    if (len < sizeof(t->header))
        return short_file_error(t, len, err);
    return check_header(t, err);
}

static int load_blocks(struct ml_trace *t, struct ml_block_reader *r, struct ml_error *err)
{
    int code = ml_trace_load_index(t, r, err);

    t->info.has_index = code == 1;
    if (code == 1)
        return 0;
    t->info.being_written = ml_file_lock_is_signed(t->fd);
    if (!code && !t->info.being_written && (code = check_file(t, err)) == 0) {
        /* It may have been finished just now. */
        r->file_bytes = t->info.file_bytes;
        code = ml_trace_load_index(t, r, err);
        t->info.has_index = code == 1;
        if (code == 1)
            return 0;
    }
    if (code && !ml_trace_may_pass(t, code))
        return code;
    return ml_trace_walk(t, r, err);
}

void ml_trace_sum_up(struct ml_trace *t, size_t first_block)
{
    struct ml_trace_info *info = &t->info;

    for (size_t i = first_block; i < t->blocks.len; i++) {
        const struct ml_index_entry *e = &t->blocks.items[i];

        if (e->type != ML_BLOCK_EVENTS)
            continue;
        info->end_ns = ml_max_u64(info->end_ns, e->last_ns);
        info->event_bytes += ml_block_end(0, e->stored_bytes);
        info->events += e->events;
        info->event_blocks++;
    }
}

static int load(struct ml_trace *t, struct ml_block_reader *r, struct ml_error *err)
{
    int code = load_blocks(t, r, err);

    if (!code && !t->info.has_index) /* being written or not: locks may be unknown here */
        code = ml_trace_keep_last_block(t, r, err);
    if (!code)
        code = ml_trace_load_defs(t, r, err);
    if (!code && !t->without_symbols)
        code = ml_trace_load_symbols(t, r, err);
    if (!code && t->salvage)
        code = ml_trace_sift(t, r, err);
    if (code)
        return code;
    ml_trace_sum_up(t, 0);
    t->info.read_wall_ns = ml_clock_ns(CLOCK_REALTIME);
    t->opened = true;
    return 0;
}

bool ml_trace_is_replaced(const struct ml_trace *t)
{
    uint8_t bytes[ML_FILE_HEADER_BYTES];
    int code = ml_pread_all(t->fd, bytes, sizeof(bytes), 0);

    return code == -ENODATA || (!code && memcmp(bytes, t->header, sizeof(bytes)) != 0);
}

int ml_trace_replaced_error(const struct ml_trace *t, struct ml_error *err)
{
    return ml_error_set(err, -ESTALE, "%s: another recording has replaced it", t->path);
}

/* A new recording cuts off the old blocks just after it has written its header, which may already
 * be the one that was read. */
static bool is_shorter_now(const struct ml_trace *t)
{
    struct stat st;

    return fstat(t->fd, &st) == 0 && (uint64_t)st.st_size < t->info.file_bytes;
}

static int open_checked(struct ml_trace *t, struct ml_error *err)
{
    struct ml_block_reader r;
    int code = check_file(t, err);

    if (!code)
        code = load_header(t, err);
    if (code)
        return code;
    ml_trace_reader_init(t, &r);
    if (ml_trace_defs_init(&t->defs, t->info.file_bytes, t->salvage))
        code = ml_error_set(err, -ENOMEM, "%s: not enough memory to open it", t->path);
    else
        code = load(t, &r, err);
    ml_block_reader_release(&r);
    if (ml_trace_is_replaced(t) || (code && is_shorter_now(t)))
        return ml_trace_replaced_error(t, err);
    return code;
}

int ml_trace_open_fd(int fd, const char *path, const struct ml_trace_opts *opts,
                     struct ml_trace **ret, struct ml_error *err)
{
    struct ml_trace *t = calloc(1, sizeof(*t));
    int code;

    if (t) {
        t->fd = fd;
        t->path = strdup(path);
        t->salvage = opts && opts->salvage;
        t->salvage_by = opts && opts->no_option ? "memledger summary --salvage" : "--salvage";
        t->without_symbols = opts && opts->without_symbols;
    }
    if (!t || !t->path) {
        if (!t)
            close(fd);
        code = ml_error_set(err, -ENOMEM, "%s: not enough memory to open it", path);
        goto out;
    }
    code = open_checked(t, err);
    if (code)
        goto out;
    *ret = t;
    t = NULL;
out:
    ml_trace_free(t);
    return code;
}

int ml_trace_absent(const char *path, int code, struct ml_error *err)
{
    const char *way_out = "";

    if (code == ENOENT)
        way_out = "; memledger run -o FILE -- PROGRAM records a trace";
    else if (code == EACCES)
        way_out = "; only the user who recorded a trace can read it, unless chmod allows it";
    return ml_error_set(err, -code, "%s: cannot open it: %s%s", path, strerror(code), way_out);
}

static int open_once(const char *path, const struct ml_trace_opts *opts, struct ml_trace **ret,
                     struct ml_error *err)
{
    /* O_NONBLOCK: opening a FIFO must not block before it is rejected. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0)
        return ml_trace_absent(path, errno, err);
    return ml_trace_open_fd(fd, path, opts, ret, err);
}

int ml_trace_open(const char *path, const struct ml_trace_opts *opts, struct ml_trace **ret,
                  struct ml_error *err)
{
    int code = -ESTALE;

    for (unsigned i = 0; i < TRIES && code == -ESTALE; i++)
        code = open_once(path, opts, ret, err);
    return code;
}

void ml_trace_free(struct ml_trace *t)
{
    if (!t)
        return;
    ml_trace_free(t->checkpoints);
    close(t->fd);
    ml_trace_defs_release(&t->defs);
    ml_vec_release(&t->blocks);
    free(t->last_block.data);
    free(t->path);
    free(t);
}

void ml_trace_attach_checkpoints(struct ml_trace *t, struct ml_trace *checkpoints)
{
    ml_trace_free(t->checkpoints);
    t->checkpoints = checkpoints;
}

const struct ml_trace *ml_trace_checkpoints(const struct ml_trace *t)
{
    return t->checkpoints;
}

const struct ml_trace_info *ml_trace_info(const struct ml_trace *t)
{
    return &t->info;
}

uint64_t ml_trace_now_ns(const struct ml_trace *t)
{
    const struct ml_trace_info *info = &t->info;

    if (info->being_written && info->read_wall_ns > info->start_wall_ns + info->end_ns)
        return info->read_wall_ns - info->start_wall_ns;
    return info->end_ns;
}
