/* target_place.c: see target_place.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "target_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "compiler.h"
#include "io.h"
#include "lent_file.h"
#include "mapped_file.h"
#include "own_root.h"
#include "session_place.h"

#define ROOM_BYTES (UINT64_C(8) << 20) /* for the copies */
#define PACKAGE "memledger"
#define DEPTH_MAX 3

/* ---- The folder ------------------------------------------------------------- */

enum fitness { FIT_NOT, FIT_NO_CODE, FIT_DISK, FIT_MEMORY };

/* Whether the process's user can make a folder there. */
static bool can_make(const char *path, const struct ml_file_user *user)
{
    char name[ML_SESSION_PATH_ROOM];
    int lock;

    ml_file_user_begin(user);
    lock = ml_session_place_make(path, name); /* the next recording removes it if we are killed */
    if (lock >= 0) {
        ml_session_place_remove(name);
        close(lock);
    }
    ml_file_user_end(user);
    return lock >= 0;
}

static enum fitness fitness_of(int folder, const char *path, const struct ml_file_user *user)
{
    struct statvfs fs;

    if (fstatvfs(folder, &fs) || fs.f_flag & ST_RDONLY ||
        (fs.f_blocks && fs.f_bavail * fs.f_frsize < ROOM_BYTES) || !can_make(path, user))
        return FIT_NOT;
    if (fs.f_flag & ST_NOEXEC)
        return FIT_NO_CODE;
    return ml_session_place_in_memory(path) ? FIT_MEMORY : FIT_DISK;
}

/* The session's folder in it, with a file, must fit into a socket's address. */
static bool name_inside(pid_t pid, const char *reached, char ret[PATH_MAX])
{
    char path[PATH_MAX];
    ssize_t n = readlink(reached, path, sizeof(path) - 1);

    if (n < 0)
        return false;
    path[n] = '\0';
    snprintf(ret, PATH_MAX, "%s", ml_mapped_path_inside(pid, path));
    return strlen(ret) < ML_SESSION_PATH_ROOM / 2;
}

static enum fitness look_at(pid_t pid, int root, const char *path, struct ml_target_place *ret)
{
    int folder = ml_root_open_file(root, path, O_RDONLY | O_DIRECTORY);
    enum fitness fitness;

    if (folder < 0)
        return FIT_NOT;
    snprintf(ret->path, sizeof(ret->path), ML_OPEN_FOLDER "%d", folder);
    fitness = name_inside(pid, ret->path, ret->inside) ? fitness_of(folder, ret->path, &ret->user)
                                                       : FIT_NOT;
    ret->folder = folder;
    ret->no_code = fitness == FIT_NO_CODE;
    return fitness;
}

static int choose(pid_t pid, int root, struct ml_target_place *ret, struct ml_error *err)
{
    static const char *const folders[] = {"/dev/shm", "/tmp", "/run", "/var/tmp"};
    struct ml_target_place found = {.folder = -1, .user = ml_file_user_of(pid)};
    enum fitness best = FIT_NOT;

    for (size_t i = 0; i < ML_ARRAY_SIZE(folders); i++) {
        struct ml_target_place p = {.pid = pid, .folder = -1, .user = found.user};
        enum fitness fitness = look_at(pid, root, folders[i], &p);

        if (fitness > best) {
            ml_target_place_release(&found);
            found = p;
            best = fitness;
        } else {
            ml_target_place_release(&p);
        }
    }
    if (best == FIT_NOT)
        return ml_error_set(err, -ENOENT,
                            "process %d has files of its own, and none of /dev/shm, /tmp, /run and "
                            "/var/tmp there can take the recorder: its user needs to write 8 MiB; "
                            "start its container with --tmpfs /tmp:exec",
                            (int)pid);
    fcntl(found.folder, F_SETFD, 0); /* for the collector */
    *ret = found;
    return 0;
}

int ml_target_place_find(pid_t pid, struct ml_target_place *ret, struct ml_error *err)
{
    int root, probe, r;

    *ret = (struct ml_target_place){.folder = -1};
    if (!ml_root_is_own(pid) && !ml_file_user_of(pid).other)
        return 0;
    root = ml_root_open(pid);
    if (root < 0)
        return ml_error_set(err, root, "cannot read the files of process %d: %s", (int)pid,
                            strerror(-root));
    probe = ml_root_open_file(root, ".", O_PATH);
    if (probe >= 0)
        close(probe);
    r = probe == -ENOSYS ? ml_error_set(err, probe,
                                        "process %d has files of its own, which can be reached "
                                        "safely only with openat2 (Linux 5.6, and no filter that "
                                        "forbids it); run memledger attach inside its container",
                                        (int)pid)
                         : choose(pid, root, ret, err);
    close(root);
    return r;
}

void ml_target_place_release(struct ml_target_place *p)
{
    if (p->folder >= 0)
        close(p->folder);
    p->folder = -1;
}

/* ---- Copies ------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && !strcmp(text + len - end_len, end);
}

static int put_copy(const struct ml_target_place *p, int in, int folder, const char *name)
{
    int out, r;

    ml_file_user_begin(&p->user);
    out = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0500);
    r = out < 0 ? -errno : ml_copy_all(in, out);
    ml_file_user_end(&p->user);
    if (out >= 0)
        close(out);
    return r;
}

/* A link to a file in the process's memory. */
static int put_lent(const struct ml_target_place *p, int in, int folder, const char *name,
                    struct ml_error *err)
{
    char target[32];
    int number = ml_lent_file_make(p->pid, &p->user, in, err);
    int r = 0;

    if (number < 0)
        return number;
    snprintf(target, sizeof(target), ML_OPEN_FOLDER "%d", number);
    ml_file_user_begin(&p->user);
    if (symlinkat(target, folder, name))
        r = -errno;
    ml_file_user_end(&p->user);
    return r;
}

/* Reads with our rights, writes with the process's. */
static int copy_file(const struct ml_target_place *p, int from_folder, const char *from,
                     int to_folder, const char *to, struct ml_error *err)
{
    int in = openat(from_folder, from, O_RDONLY | O_CLOEXEC);
    int r = in < 0 ? -errno : 0;

    if (!r)
        r = p->no_code && ends_with(to, ".so") ? put_lent(p, in, to_folder, to, err)
                                               : put_copy(p, in, to_folder, to);
    if (in >= 0)
        close(in);
    return r;
}

static int make_folder(const struct ml_target_place *p, int parent, const char *name, int *ret)
{
    int r = 0;

    ml_file_user_begin(&p->user);
    if (mkdirat(parent, name, 0700))
        r = -errno;
    *ret = r ? -1 : openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (!r && *ret < 0)
        r = -errno;
    ml_file_user_end(&p->user);
    return r;
}

static int copy_package(const struct ml_target_place *p, int from, int to_parent, const char *name,
                        int depth, struct ml_error *err);

static int copy_entry(const struct ml_target_place *p, int from, int to, const char *name,
                      int depth, struct ml_error *err)
{
    int inner, r;

    if (ends_with(name, ".py") || (!strncmp(name, "_native", 7) && ends_with(name, ".so")))
        return copy_file(p, from, name, to, name, err);
    inner = depth < DEPTH_MAX ? openat(from, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    r = inner >= 0 && !faccessat(inner, "__init__.py", R_OK, 0)
            ? copy_package(p, inner, to, name, depth + 1, err)
            : 0;
    if (inner >= 0)
        close(inner);
    return r;
}

/* A package and those inside it, without the other files that an installation keeps there. */
static int copy_package(const struct ml_target_place *p, int from, int to_parent, const char *name,
                        int depth, struct ml_error *err)
{
    int to, r = make_folder(p, to_parent, name, &to);
    struct dirent *entry;
    int listed = r ? -1 : openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *all = listed >= 0 ? fdopendir(listed) : NULL;

    while (!r && all && (entry = readdir(all)))
        if (entry->d_name[0] != '.')
            r = copy_entry(p, from, to, entry->d_name, depth, err);
    if (all)
        closedir(all);
    if (to >= 0)
        close(to);
    return r;
}

/* In a wheel the package's folder contains the folder that is named here. */
static int open_package(const char *folder)
{
    static const char *const places[] = {"/" PACKAGE, "", "/../" PACKAGE};
    char path[PATH_MAX + 16];

    for (size_t i = 0; i < ML_ARRAY_SIZE(places); i++) {
        int fd;

        snprintf(path, sizeof(path), "%s%s", folder, places[i]);
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 && !faccessat(fd, "_attached.py", R_OK, 0))
            return fd;
        if (fd >= 0)
            close(fd);
    }
    return -1;
}

static int fill_python(const struct ml_target_place *p, int session, const char *session_inside,
                       char package[PATH_MAX], struct ml_error *err)
{
    int to = -1, from = open_package(package);
    int r = from < 0 ? 0 : make_folder(p, session, ML_SESSION_PYTHON, &to);

    if (from >= 0 && !r)
        r = copy_package(p, from, to, PACKAGE, 0, err);
    snprintf(package, PATH_MAX, "%s/" ML_SESSION_PYTHON, session_inside);
    if (from < 0)
        *package = '\0'; /* the recording begins without names */
    else
        close(from);
    if (to >= 0)
        close(to);
    return r;
}

static int open_session(const struct ml_target_place *p, const char *session)
{
    int fd;

    ml_file_user_begin(&p->user);
    fd = open(session, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    ml_file_user_end(&p->user);
    return fd;
}

int ml_target_place_fill(const struct ml_target_place *p, const char *session,
                         const char *session_inside, char library[PATH_MAX], char package[PATH_MAX],
                         struct ml_error *err)
{
    int folder = open_session(p, session);
    int r = folder < 0 ? -errno : 0;

    if (!r && *library) {
        const char *name = strrchr(library, '/') + 1;
        char inside[PATH_MAX];

        r = copy_file(p, AT_FDCWD, library, folder, name, err);
        if (snprintf(inside, sizeof(inside), "%s/%s", session_inside, name) < PATH_MAX)
            strcpy(library, inside);
    }
    if (!r && *package)
        r = fill_python(p, folder, session_inside, package, err);
    if (folder >= 0)
        close(folder);
    return r && !err->code
               ? ml_error_set(err, r, "cannot copy the recorder to %s in the container: %s",
                              session_inside, strerror(-r))
               : r;
}

void ml_target_place_forget(const struct ml_target_place *p, const char *session)
{
    static const char *const files[] = {"libmemledger-heap.so", "libmemledger.so",
                                        ML_SESSION_PYTHON "/" PACKAGE "/_native.abi3.so"};
    int folder = p->folder >= 0 ? open_session(p, session) : -1;

    ml_file_user_begin(&p->user);
    for (size_t i = 0; folder >= 0 && i < ML_ARRAY_SIZE(files); i++)
        unlinkat(folder, files[i], 0);
    ml_file_user_end(&p->user);
    if (folder >= 0)
        close(folder);
    if (p->no_code)
        ml_lent_files_close(p->pid);
}
