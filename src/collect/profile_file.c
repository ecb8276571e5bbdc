/* profile_file.c: see profile_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

static void close_fd(struct ml_profile_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

void ml_profile_file_release(struct ml_profile_file *f)
{
    close_fd(f);
    ml_buf_release(&f->text);
    free(f->path);
    f->path = NULL;
}

int ml_profile_file_set_path(struct ml_profile_file *f, const char *directory, const char *name)
{
    bool relative = name[0] != '/' && directory && directory[0];
    size_t bytes = strlen(name) + (relative ? strlen(directory) + 1 : 0) + 1;
    char *path = malloc(bytes);

    if (!path)
        return -ENOMEM;
    path[0] = '\0';
    if (relative) {
        strcpy(path, directory);
        strcat(path, "/");
    }
    strcat(path, name);
    if (f->path && strcmp(f->path, path) != 0)
        ml_profile_file_finish(f);
    free(f->path);
    f->path = path;
    return 0;
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

/* Not truncated before it is ours alone: two processes of a run that write to
 * one name would leave a heap of pieces. */
static int open_alone(const char *path, struct ml_error *err)
{
    /* A pipe without a reader would hold up the collector. */
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
    struct stat st;
    int r = 0;

    if (fd < 0)
        return ml_error_set(err, -errno, "%s: cannot be created: %s", path, strerror(errno));
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        r = ml_error_set(err, -EINVAL, "%s: is not a regular file; set \"filename\" to another",
                         path);
    else if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        r = ml_error_set(err, -EBUSY,
                         "%s: another process writes its profile there; set \"filename\" to a "
                         "name of its own in each process",
                         path);
    else if (ftruncate(fd, 0))
        r = ml_error_set(err, -errno, "%s: cannot be emptied: %s", path, strerror(errno));
    if (!r)
        return fd;
    close(fd);
    return r;
}

static int make_file(struct ml_profile_file *f, struct ml_error *err)
{
    int fd = open_alone(f->path, err);
    int r;

    if (fd < 0)
        return fd;
    r = write_at(fd, header, strlen(header), 0);
    if (!r)
        r = write_at(fd, footer, strlen(footer), strlen(header));
    if (r) {
        /* What is there is no JSON. */
        unlink(f->path);
        close(fd);
        return ml_error_set(err, r, "%s: cannot be written: %s", f->path, strerror(-r));
    }
    f->fd = fd;
    f->end = strlen(header);
    return 0;
}

/* After a failed write the old closing lines are put back, where they had room
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

/* Says once that something is missing from the file. */
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

    if (f->fd < 0)
        r = make_file(f, err);
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
