/* profile_file.c: see profile_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "handed_check.h"

#define ERRNO_MAX 4095 /* of the kernel */
#define FLUSH_BYTES (1u << 20)

/* The first record is part of the header, so that every other one starts with
 * a comma. */
static const char header[] = "{\n"
                             "    \"traceEvents\": [\n"
                             "        {\n"
                             "            \"ph\": \"M\",\n"
                             "            \"args\": {\n"
                             "                \"name\": \"cpu/0\"\n"
                             "            },\n"
                             "            \"pid\": 0,\n"
                             "            \"name\": \"process_name\"\n"
                             "        }\n";
static const char footer[] = "\n"
                             "    ],\n"
                             "    \"displayTimeUnit\": \"ms\"\n"
                             "}\n";

void ml_profile_file_init(struct ml_profile_file *f)
{
    *f = (struct ml_profile_file){.fd = -1, .generation = 1};
}

/* Unlocked first: the program, or a child, may have the same open file. */
static void close_fd(struct ml_profile_file *f)
{
    if (f->fd >= 0) {
        flock(f->fd, LOCK_UN);
        close(f->fd);
    }
    f->fd = -1;
    f->begun = false;
    f->refusal = (struct ml_error){0};
}

void ml_profile_file_release(struct ml_profile_file *f)
{
    close_fd(f);
    ml_buf_release(&f->text);
    free(f->path);
    f->path = NULL;
}

/* ---- Writing ------------------------------------------------------------ */

static int write_at(int fd, const void *bytes, size_t len, uint64_t offset)
{
    const char *p = bytes;

    while (len > 0) {
        ssize_t n = pwrite(fd, p, len, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        p += n;
        len -= (size_t)n;
        offset += (uint64_t)n;
    }
    return 0;
}

/* Two processes that write to one file would mix their pieces. */
static int lock_alone(struct ml_profile_file *f, struct ml_error *err)
{
    if (flock(f->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return ml_error_set(err, -EBUSY,
                            "%s: another process writes its profile there; set a different "
                            "\"filename\" in each process",
                            f->path);
    return 0;
}

/* The old contents stay until there is room for all of the new lines. */
static int begin(struct ml_profile_file *f, struct ml_error *err)
{
    size_t header_len = strlen(header), footer_len = strlen(footer);
    int r = lock_alone(f, err);

    if (r)
        return r;
    r = write_at(f->fd, header, header_len, 0);
    if (!r)
        r = write_at(f->fd, footer, footer_len, header_len);
    if (!r && ftruncate(f->fd, (off_t)(header_len + footer_len)))
        r = -errno;
    if (r) {
        /* The contents are not JSON; an empty file shows that. */
        int ignored = ftruncate(f->fd, 0);
        (void)ignored;
        return ml_error_set(err, r, "%s: cannot be written: %s", f->path, strerror(-r));
    }
    f->begun = true;
    f->end = header_len;
    return 0;
}

/* The number comes from the target. */
static int refuse(struct ml_profile_file *f, int error)
{
    if (error < 1 || error > ERRNO_MAX)
        error = EBADF;
    if (error == ENOTCONN)
        return ml_error_set(&f->refusal, -error,
                            "%s: cannot be passed to memledger: the program's sandbox forbids it",
                            f->path);
    return ml_error_set(&f->refusal, -error, "%s: cannot be created: %s", f->path, strerror(error));
}

int ml_profile_file_take(struct ml_profile_file *f, int fd, int error, const char *path)
{
    char *copy = f->fd < 0 ? strdup(path) : NULL;
    struct stat st;
    int r = 0;

    if (copy) {
        free(f->path);
        f->path = copy;
        r = fd >= 0 ? ml_handed_check(fd, path, &f->refusal) : refuse(f, error);
    }
    if (!copy || r) {
        if (fd >= 0)
            close(fd);
        return f->fd < 0 && !copy ? -ENOMEM : r;
    }
    f->refusal = (struct ml_error){0};
    f->fd = fd;
    if (!lock_alone(f, NULL) && !fstat(fd, &st) && !st.st_size)
        begin(f, NULL); /* a flush tries again, and reports */
    return 0;
}

/* After a failed write, restores the old closing lines, which had room
 * before. */
static int append(struct ml_profile_file *f, struct ml_error *err)
{
    size_t len = f->text.len;
    int r = ml_buf_puts(&f->text, footer);

    if (!r)
        r = write_at(f->fd, f->text.data, f->text.len, f->end);
    if (r) {
        int restored = write_at(f->fd, footer, strlen(footer), f->end);
        restored |= ftruncate(f->fd, (off_t)(f->end + strlen(footer)));
        (void)restored; /* there is nothing more to try */
        f->text.len = len;
        return ml_error_set(err, r, "%s: cannot be written: %s", f->path, strerror(-r));
    }
    f->end += len;
    ml_buf_clear(&f->text);
    f->records = 0;
    return 0;
}

/* Reports once that something is missing from the file. */
static int tell_lost(struct ml_profile_file *f, struct ml_error *err)
{
    int r = f->error;

    if (!f->lost)
        return 0;
    ml_error_set(err, r, "%s: %" PRIu64 " records are missing: %s", f->path, f->lost, strerror(-r));
    f->lost = 0;
    return r;
}

static int update(struct ml_profile_file *f, struct ml_error *err)
{
    int r = 0;

    if (f->fd < 0 && f->refusal.code)
        return ml_error_set(err, f->refusal.code, "%s", f->refusal.text);
    if (f->fd < 0)
        return ml_error_set(err, -EBADF,
                            "the profile has no file: the program that set its state to run could "
                            "not open one; set the state again");
    if (!f->begun)
        r = begin(f, err);
    return r || !f->text.len ? r : append(f, err);
}

int ml_profile_file_update(struct ml_profile_file *f)
{
    return update(f, NULL);
}

int ml_profile_file_flush(struct ml_profile_file *f, struct ml_error *err)
{
    int r = update(f, err);

    return r ? r : tell_lost(f, err);
}

void ml_profile_file_finish(struct ml_profile_file *f)
{
    close_fd(f);
    ml_buf_clear(&f->text);
    f->records = 0;
    f->generation++;
}

/* ---- Records ------------------------------------------------------------ */

static void give_up(struct ml_profile_file *f, int r)
{
    f->lost += f->records;
    f->error = r;
    f->records = 0;
    f->generation++;
    ml_buf_clear(&f->text);
}

/* Ends a record that began at `start` of the buffer. */
static void end_record(struct ml_profile_file *f, size_t start, int r)
{
    if (r) {
        f->text.len = start;
        f->lost++;
        f->error = r;
        return;
    }
    f->records++;
    if (f->text.len < FLUSH_BYTES)
        return;
    r = update(f, NULL);
    if (r)
        give_up(f, r);
}

/* Room for all of a record but its names. */
#define RECORD_BYTES 320

static char *put_number(char *out, uint64_t number)
{
    char digits[20];
    size_t n = 0;

    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (n)
        *out++ = digits[--n];
    return out;
}

static char *put_extra(char *out, const struct ml_profile_record *r)
{
    uint64_t size = r->value < 0 ? 0 - (uint64_t)r->value : (uint64_t)r->value;

    switch (r->extra) {
    case ML_EXTRA_ID:
        out = stpcpy(out, "        \"id\": ");
        return stpcpy(put_number(out, r->id), ",\n");
    case ML_EXTRA_SCOPE:
        out = stpcpy(out, "        \"s\": \"");
        *out++ = r->scope;
        return stpcpy(out, "\",\n");
    case ML_EXTRA_VALUE:
        out = stpcpy(out, "        \"args\": { ");
        out = stpcpy(stpcpy(out, r->name), r->value < 0 ? ": -" : ": ");
        return stpcpy(put_number(out, size), " },\n");
    default: return out;
    }
}

/* By hand: printf would take most of the collector's time while a profile
 * runs. */
void ml_profile_file_put(struct ml_profile_file *f, const struct ml_profile_record *r)
{
    size_t start = f->text.len;
    int error = ml_buf_reserve(&f->text, RECORD_BYTES + 2 * strlen(r->name) + strlen(r->category));

    if (!error) {
        char *out = (char *)f->text.data + start;
        out = stpcpy(stpcpy(out, ",\n    {\n        \"name\": "), r->name);
        out = stpcpy(stpcpy(out, ",\n        \"cat\": "), r->category);
        out = stpcpy(out, ",\n        \"ph\": \"");
        *out++ = r->phase;
        out = put_number(stpcpy(out, "\",\n        \"ts\": "), r->time_us);
        out = put_extra(stpcpy(out, ",\n"), r);
        out = put_number(stpcpy(out, "        \"pid\": "), r->pid);
        out = put_number(stpcpy(out, ",\n        \"tid\": "), r->tid);
        out = stpcpy(out, "\n    }\n");
        f->text.len = (size_t)(out - (char *)f->text.data);
    }
    end_record(f, start, error);
}

void ml_profile_file_put_process(struct ml_profile_file *f, const char *name_json, uint32_t pid)
{
    size_t start = f->text.len;

    end_record(f, start,
               ml_buf_printf(&f->text,
                             ",\n"
                             "        {\n"
                             "            \"ph\": \"M\",\n"
                             "            \"args\": {\n"
                             "                \"name\": %s\n"
                             "            },\n"
                             "            \"pid\": %" PRIu32 ",\n"
                             "            \"name\": \"process_name\"\n"
                             "        }\n",
                             name_json, pid));
}
