/* session_place.c: see session_place.h.
 *
 * The lock is on the folder itself. Names begin with the machine's boot id: on a
 * disk that several machines share, another machine's locks may be invisible.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "session_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "compiler.h"
#include "file_lock.h"
#include "file_user.h"
#include "folders.h"
#include "io.h"
#include "ring.h"

#define BOOT_DIGITS 8
#define RANDOM_LETTERS 6
#define PREFIX_ROOM (sizeof("memledger--") + BOOT_DIGITS)

/* How often another run may remove a folder between its creation and its lock. */
#define TRIES 10
/* A shared folder for temporary files can have many entries, and this must not delay the run. */
#define SWEEP_ENTRIES_MAX 10000

/* Some are made by python/bootstrap/sitecustomize.py, the last three by memledger attach. */
static const char *const files[] = {ML_SESSION_SOCKET,  ML_SESSION_FILES,       ML_SESSION_PAGE,
                                    ML_SESSION_LIBRARY, "told-torch",           "told-mxnet",
                                    "libmemledger.so",  "libmemledger-heap.so", "attach.py"};

/* "memledger-1a2b3c4d-" */
static int prefix(char out[PREFIX_ROOM])
{
    char boot[BOOT_DIGITS + 1] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    int r = fd < 0 ? -errno : ml_pread_all(fd, boot, BOOT_DIGITS, 0);

    if (fd >= 0)
        close(fd);
    snprintf(out, PREFIX_ROOM, "memledger-%s-", r ? "session" : boot);
    return r;
}

/* A path through a descriptor is absolute already, and its links have no names. */
static int name_place(const char *parent, char out[ML_SESSION_PATH_ROOM])
{
    bool is_open = !strncmp(parent, ML_OPEN_FOLDER, strlen(ML_OPEN_FOLDER));
    char *absolute = is_open ? strdup(parent) : realpath(parent, NULL);
    char begin[PREFIX_ROOM];
    int n;

    if (!absolute)
        return -errno;
    prefix(begin);
    n = snprintf(out, ML_SESSION_PATH_ROOM, "%s/%sXXXXXX", absolute, begin);
    free(absolute);
    return n < ML_SESSION_PATH_ROOM ? 0 : -ENAMETOOLONG;
}

/* @return the descriptor, -EAGAIN: another run removed it first, or another negative errno */
static int lock_place(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return errno == ENOENT ? -EAGAIN : -errno;
    if (!ml_file_lock(fd, path))
        return fd;
    close(fd);
    return -EAGAIN;
}

int ml_session_place_make(const char *parent, char ret_path[ML_SESSION_PATH_ROOM])
{
    int r = -EAGAIN;

    for (int i = 0; r == -EAGAIN && i < TRIES; i++) {
        r = name_place(parent, ret_path);
        if (!r)
            r = mkdtemp(ret_path) ? lock_place(ret_path) : -errno;
    }
    return r;
}

bool ml_session_place_in_memory(const char *parent)
{
    struct statfs fs;

    return !statfs(parent, &fs) && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

/* Leaves files that are not memledger's. */
static void remove_files(int place)
{
    int python = openat(place, ML_SESSION_PYTHON, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    for (size_t i = 0; i < ML_ARRAY_SIZE(files); i++)
        unlinkat(place, files[i], 0);
    if (python < 0)
        return;
    ml_folder_clear(python);
    close(python);
    unlinkat(place, ML_SESSION_PYTHON, AT_REMOVEDIR);
}

void ml_session_place_remove(const char *path)
{
    int place = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (place < 0)
        return;
    remove_files(place);
    close(place);
    rmdir(path);
}

/* Leaves folders of other users, and folders that a process has locked. */
static void sweep_one(int parent, const char *name)
{
    int place = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (place < 0)
        return;
    if (!fstat(place, &st) && st.st_uid == ml_file_user_now() && !flock(place, LOCK_EX | LOCK_NB)) {
        remove_files(place);
        unlinkat(parent, name, AT_REMOVEDIR);
    }
    close(place);
}

void ml_session_place_sweep(const char *parent)
{
    char begin[PREFIX_ROOM];
    size_t len = prefix(begin) ? 0 : strlen(begin);
    DIR *all = len ? opendir(parent) : NULL;
    struct dirent *entry;

    for (int i = 0; all && i < SWEEP_ENTRIES_MAX && (entry = readdir(all)); i++) {
        if (!strncmp(entry->d_name, begin, len) && strlen(entry->d_name) == len + RANDOM_LETTERS)
            sweep_one(dirfd(all), entry->d_name);
    }
    if (all)
        closedir(all);
}
