/* cache_folder.c: see cache_folder.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vec.h"

#define FOLDER "memledger/checkpoints"
#define MOST_BYTES (UINT64_C(4) << 30)

/* The specification says that a relative path is to be ignored. */
static int find_base(char *ret, size_t len)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n;

    if (cache && cache[0] == '/')
        n = snprintf(ret, len, "%s", cache);
    else if (home && home[0] == '/')
        n = snprintf(ret, len, "%s/.cache", home);
    else
        return -ENOENT;
    return n > 0 && (size_t)n < len ? 0 : -ENAMETOOLONG;
}

int ml_cache_path(const char *name, char *ret, size_t len)
{
    char base[PATH_MAX];
    int n, r = find_base(base, sizeof(base));

    if (r < 0)
        return r;
    n = snprintf(ret, len, "%s/" FOLDER "/%s", base, name);
    return n > 0 && (size_t)n < len ? 0 : -ENAMETOOLONG;
}

struct cached {
    char name[NAME_MAX + 1];
    uint64_t bytes;
    int64_t used_s;
};

static int by_use(const void *a, const void *b)
{
    const struct cached *x = a, *y = b;

    return x->used_s < y->used_s ? -1 : x->used_s > y->used_s;
}

typedef ML_VEC(struct cached) cached_list;

/* @return the bytes of all files */
static uint64_t list_files(DIR *folder, const char *keep, cached_list *ret)
{
    const struct dirent *entry;
    uint64_t bytes = 0;

    while ((entry = readdir(folder))) {
        struct cached file;
        struct stat st;

        if (fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISREG(st.st_mode))
            continue;
        bytes += (uint64_t)st.st_size;
        file.bytes = (uint64_t)st.st_size;
        file.used_s = st.st_atim.tv_sec > st.st_mtim.tv_sec ? st.st_atim.tv_sec : st.st_mtim.tv_sec;
        snprintf(file.name, sizeof(file.name), "%s", entry->d_name);
        if (strcmp(file.name, keep) != 0)
            (void)ml_vec_push(ret, file);
    }
    return bytes;
}

void ml_cache_trim(const char *keep)
{
    cached_list files = {0};
    char path[PATH_MAX];
    uint64_t bytes;
    DIR *folder;

    if (ml_cache_path("", path, sizeof(path)) < 0 || !(folder = opendir(path)))
        return;
    keep = strrchr(keep, '/') ? strrchr(keep, '/') + 1 : keep;
    bytes = list_files(folder, keep, &files);
    ml_vec_sort(&files, by_use);
    for (size_t i = 0; i < files.len && bytes > MOST_BYTES; i++)
        if (unlinkat(dirfd(folder), files.items[i].name, 0) == 0)
            bytes -= files.items[i].bytes;
    ml_vec_release(&files);
    closedir(folder);
}
