/* recorded_session.c: see recorded_session.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recorded_session.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mapped_file.h"

/* A part of the path of every session page; see session_place.c. */
#define FOLDER_BEGIN "/memledger-"

static bool is_page(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && !strcmp(slash + 1, ML_SESSION_PAGE) && strstr(path, FOLDER_BEGIN);
}

struct search {
    pid_t pid;
    bool change; /* the page is to be written to */
    struct ml_recorded_session *session;
    int result;
};

int ml_recorded_session_map(int fd, bool change, struct ml_recorded_session *ret)
{
    struct ml_session *page;
    struct stat st;
    int r = -ESRCH;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (size_t)st.st_size < sizeof(*page))
        return r;
    page = mmap(NULL, sizeof(*page), PROT_READ | (change ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return -errno;
    if (page->magic == ML_SHARED_MAGIC && page->version == ML_SHARED_VERSION &&
        !atomic_load(&page->closed)) {
        ret->page = page;
        return 0;
    }
    if (page->magic == ML_SHARED_MAGIC && page->version != ML_SHARED_VERSION)
        r = -EPROTO;
    munmap(page, sizeof(*page));
    return r;
}

/* Maps the page if it is one. A recording that has ended leaves it mapped, without a name. The
 * process may have another root. */
static int map_page(const struct search *s, const struct ml_mapping *mapping)
{
    int fd = ml_mapped_file_open(s->pid, mapping,
                                 (s->change ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY);
    int r;

    if (fd < 0)
        return fd == -EACCES || fd == -EPERM ? -EACCES : -ESRCH;
    r = ml_recorded_session_map(fd, s->change, s->session);
    close(fd);
    return r;
}

static void name_folder(pid_t pid, const char *page, struct ml_recorded_session *ret)
{
    const char *inside = ml_mapped_path_inside(pid, page);

    snprintf(ret->folder, sizeof(ret->folder), "%.*s", (int)(strrchr(inside, '/') - inside),
             inside);
}

static bool is_session(const struct ml_mapping *m, void *context)
{
    struct search *s = context;
    int found = m->path && !m->deleted && is_page(m->path) ? map_page(s, m) : -ESRCH;

    if (!found)
        name_folder(s->pid, m->path, s->session);
    if (found != -ESRCH)
        s->result = found;
    return !found;
}

static int explain(pid_t pid, int r, struct ml_error *err)
{
    switch (r) {
    case 0: return 0;
    case -EACCES:
        return ml_error_set(err, r,
                            geteuid() == 0 ? "cannot read /proc/%d/maps: this container may not "
                                             "inspect that process; try outside of it"
                                           : "process %d belongs to another user; repeat the "
                                             "command with sudo",
                            (int)pid);
    case -EPROTO:
        return ml_error_set(err, r,
                            "process %d is recorded by another version of memledger; use the "
                            "command of that version",
                            (int)pid);
    default:
        return ml_error_set(err, -ESRCH,
                            "process %d is not being recorded; memledger live lists what is",
                            (int)pid);
    }
}

int ml_recorded_session_open(pid_t pid, bool change, struct ml_recorded_session *ret,
                             struct ml_error *err)
{
    struct search s = {pid, change, ret, -ESRCH};
    int r;

    *ret = (struct ml_recorded_session){0};
    r = ml_mappings_visit(pid, is_session, &s);
    if (r == -ENOENT)
        return ml_error_set(err, -ESRCH, "there is no process %d", (int)pid);
    return explain(pid, r < 0 ? -EACCES : s.result, err);
}

void ml_recorded_session_release(struct ml_recorded_session *s)
{
    if (s->page)
        munmap(s->page, sizeof(*s->page));
    s->page = NULL;
}

void ml_recorded_session_ring(struct ml_session *page)
{
    atomic_fetch_add(&page->doorbell, 1);
    syscall(SYS_futex, &page->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void ml_recorded_session_finish(struct ml_session *page)
{
    atomic_store(&page->finish, 1);
    ml_recorded_session_ring(page);
}
