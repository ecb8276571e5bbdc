/* rank_files.c: see rank_files.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rank_files.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "digest.h"

#define FOLDERS_DEEP 4
#define TRACE_SUFFIX ".mled"

static bool ends_with(const char *text, const char *suffix)
{
    size_t len = strlen(text), end = strlen(suffix);

    return len > end && strcmp(text + len - end, suffix) == 0;
}

static const char *join_text(struct ml_rank_files *files, const char *a, size_t len, const char *b)
{
    char *text = ml_arena_alloc(&files->arena, len + strlen(b) + 1);

    if (text) {
        memcpy(text, a, len);
        memcpy(text + len, b, strlen(b) + 1);
    }
    return text;
}

static int add_file(struct ml_rank_files *files, const char *path)
{
    struct ml_rank_file file = {0};
    size_t len = strlen(path);

    if (ends_with(path, ML_DIGEST_SUFFIX)) {
        file.has_digest = true;
        file.digest = join_text(files, path, len, "");
        file.trace = join_text(files, path, len - strlen(ML_DIGEST_SUFFIX), "");
    } else {
        file.has_trace = true;
        file.trace = join_text(files, path, len, "");
        file.digest = join_text(files, path, len, ML_DIGEST_SUFFIX);
    }
    return file.trace && file.digest ? ml_vec_push(&files->list, file) : -ENOMEM;
}

static int add_folder(struct ml_rank_files *files, const char *path, int depth)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    int r = folder ? 0 : -errno;

    while (r == 0 && (entry = readdir(folder))) {
        struct ml_buf name = {0};
        struct stat about;

        if (entry->d_name[0] == '.')
            continue;
        r = ml_buf_printf(&name, "%s/%s", path, entry->d_name);
        if (r == 0 && (ends_with(entry->d_name, TRACE_SUFFIX) ||
                       ends_with(entry->d_name, TRACE_SUFFIX ML_DIGEST_SUFFIX)))
            r = add_file(files, (const char *)name.data);
        else if (r == 0 && depth < FOLDERS_DEEP && entry->d_type != DT_REG &&
                 stat((const char *)name.data, &about) == 0 && S_ISDIR(about.st_mode))
            r = add_folder(files, (const char *)name.data, depth + 1);
        ml_buf_release(&name);
    }
    if (folder)
        closedir(folder);
    return r;
}

int ml_rank_files_add(struct ml_rank_files *files, const char *path, struct ml_error *err)
{
    size_t len = strlen(path), before = files->list.len;
    struct stat about;
    int r;

    while (len > 1 && path[len - 1] == '/')
        len--;
    if (stat(path, &about) < 0)
        return ml_error_set(err, -errno, "%s: cannot open it: %s", path, strerror(errno));
    if (S_ISDIR(about.st_mode)) {
        const char *folder = join_text(files, path, len, "");

        r = folder ? add_folder(files, folder, 0) : -ENOMEM;
    } else {
        r = add_file(files, path);
    }
    if (r < 0)
        return ml_error_set(err, r, "%s: cannot read the folder: %s", path, strerror(-r));
    if (files->list.len == before)
        return ml_error_set(err, -ENOENT,
                            "%s: has no traces (" TRACE_SUFFIX
                            ") and no digests (" TRACE_SUFFIX ML_DIGEST_SUFFIX
                            "); record with memledger run -o %s/%%r" TRACE_SUFFIX,
                            path, path);
    return 0;
}

static int by_trace(const void *a, const void *b)
{
    return strcmp(((const struct ml_rank_file *)a)->trace, ((const struct ml_rank_file *)b)->trace);
}

void ml_rank_files_join(struct ml_rank_files *files)
{
    struct ml_rank_file *list = files->list.items;
    size_t kept = 0;

    ml_vec_sort(&files->list, by_trace);
    for (size_t i = 0; i < files->list.len; i++)
        if (kept > 0 && strcmp(list[kept - 1].trace, list[i].trace) == 0) {
            list[kept - 1].has_trace |= list[i].has_trace;
            list[kept - 1].has_digest |= list[i].has_digest;
        } else {
            list[kept++] = list[i];
        }
    files->list.len = kept;
    for (size_t i = 0; i < kept; i++) {
        struct stat about;

        list[i].has_trace = list[i].has_trace || stat(list[i].trace, &about) == 0;
        list[i].has_digest = list[i].has_digest || stat(list[i].digest, &about) == 0;
    }
}

void ml_rank_files_release(struct ml_rank_files *files)
{
    ml_vec_release(&files->list);
    ml_arena_release(&files->arena);
}
