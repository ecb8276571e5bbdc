/* tbd_operands.c: see tbd_operands.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tbd_operands.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "importer.h"
#include "part_guard.h"

#define LOG_FORMAT "tbd-log"
#define TEMPORARY_NAME "memledger-log-XXXXXX"

/* ---- Folders ------------------------------------------------------------ */

/* @path  owned by the list from now on; NULL: out of memory */
static int keep(ml_file_list *files, char *path)
{
    if (path && ml_vec_push(files, path) == 0)
        return 0;
    free(path);
    return -ENOMEM;
}

static bool is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int add_entry(const char *folder, const char *name, ml_file_list *ret)
{
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    char *path = NULL;

    if (asprintf(&path, "%s%s%s", folder, slash, name) < 0)
        return -ENOMEM;
    if (is_file(path))
        return keep(ret, path);
    free(path);
    return 0;
}

static int add_folder(const char *folder, ml_file_list *ret, struct ml_error *err)
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, NULL, alphasort), r = 0;

    if (n < 0)
        return ml_error_set(err, -errno, "%s: cannot read the folder: %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        if (r == 0)
            r = add_entry(folder, entries[i]->d_name, ret);
        free(entries[i]);
    }
    free(entries);
    return r;
}

int ml_tbd_files(char **operands, size_t count, ml_file_list *ret, struct ml_error *err)
{
    struct stat st;
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        if (stat(operands[i], &st) == 0 && S_ISDIR(st.st_mode))
            r = add_folder(operands[i], ret, err);
        else
            r = keep(ret, strdup(operands[i]));
    }
    if (r == 0 && ret->len == 0)
        r = ml_error_set(err, -ENOENT, "%s: has no files; name a folder with logs or traces",
                         operands[0]);
    return r;
}

void ml_tbd_files_release(ml_file_list *files)
{
    for (size_t i = 0; i < files->len; i++)
        free(files->items[i]);
    ml_vec_release(files);
}

/* ---- Logs --------------------------------------------------------------- */

/* Between the two guards there is no file but the sink's part.
 * @trace  a temporary file; guarded from the import's end on */
static int import_into(struct ml_import_source *source, const char *trace, struct ml_error *err)
{
    struct ml_import_sink sink;
    int r = ml_import_sink_open(&sink, trace, true, err);

    if (r < 0)
        return r;
    unlink(trace);
    ml_part_guard(sink.part);
    r = ml_import_run(ml_import_format_find(LOG_FORMAT), source, &sink, err);
    ml_part_hold(trace);
    if (r == 0)
        r = ml_import_sink_close(&sink, NULL, err);
    else
        ml_import_sink_abandon(&sink);
    ml_part_guard(trace);
    return r;
}

/* @return a new file, or NULL with the reason in `err` */
static char *temporary_file(struct ml_error *err)
{
    const char *folder = getenv("TMPDIR");
    char *path = NULL;
    int fd = -1;

    if (asprintf(&path, "%s/" TEMPORARY_NAME, folder && *folder ? folder : "/tmp") >= 0)
        fd = mkstemp(path);
    if (fd >= 0) {
        close(fd);
        return path;
    }
    ml_error_set(err, -errno, "%s: cannot write: %s; set TMPDIR to another folder",
                 path ? path : TEMPORARY_NAME, strerror(errno));
    free(path);
    return NULL;
}

static int open_imported(struct ml_import_source *source, struct ml_trace **ret,
                         struct ml_error *err)
{
    char *path;
    int r;

    ml_part_hold(TEMPORARY_NAME);
    path = temporary_file(err);
    r = path ? import_into(source, path, err) : err->code;
    if (r == 0)
        r = ml_trace_open(path, &(struct ml_trace_opts){0}, ret, err);
    if (path)
        unlink(path);
    ml_part_guard(NULL);
    free(path);
    return r;
}

static int open_log(const char *log, struct ml_trace **ret, struct ml_error *err)
{
    struct ml_import_source source;
    int r = ml_import_source_open(&source, log, err);

    if (r < 0)
        return r;
    r = open_imported(&source, ret, err);
    ml_import_source_release(&source);
    return r;
}

static bool is_empty(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
}

struct ml_trace *ml_tbd_open(const char *path, const struct ml_report_opts *opts)
{
    struct ml_trace_opts trace_opts = {.salvage = opts->salvage};
    struct ml_trace *trace = NULL;
    struct ml_error err = {0};
    int r;

    ml_memory_limit(path, opts->max_memory_bytes);
    r = ml_trace_open(path, &trace_opts, &trace, &err);
    if (r == -EINVAL || is_empty(path)) /* not a trace */
        r = open_log(path, &trace, &err);
    if (r < 0)
        ml_report_fail(&err);
    return r < 0 ? NULL : trace;
}
