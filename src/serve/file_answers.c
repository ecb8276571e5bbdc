/* file_answers.c: see file_answers.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "file_answers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_lock.h"

static uint64_t modified_ns(const struct stat *info)
{
    return (uint64_t)info->st_mtim.tv_sec * UINT64_C(1000000000) + (uint64_t)info->st_mtim.tv_nsec;
}

static void put_file(struct ml_json *json, const struct ml_served_files *files, size_t number)
{
    struct stat info;

    ml_json_begin_object(json);
    ml_json_kv_u64(json, "id", number);
    ml_json_kv_cstr(json, "name", files->names[number]);
    ml_json_kv_cstr(json, "path", files->paths[number]);
    if (stat(files->paths[number], &info) == 0) {
        ml_json_kv_u64(json, "bytes", (uint64_t)info.st_size);
        ml_json_kv_u64(json, "modified_ns", modified_ns(&info));
    } else {
        ml_json_kv_null(json, "bytes");
        ml_json_kv_null(json, "modified_ns");
    }
    ml_json_kv_bool(json, "listed", files->listed[number]);
    ml_json_end_object(json);
}

enum MHD_Result ml_answer_files(struct MHD_Connection *connection,
                                const struct ml_served_files *files)
{
    size_t count = atomic_load_explicit(&files->count, memory_order_acquire);
    struct ml_buf text = {0};
    struct ml_json json;

    ml_json_init(&json, &text, false);
    ml_json_begin_object(&json);
    ml_json_key(&json, "files");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        if (files->paths[i])
            put_file(&json, files, i);
    ml_json_end_array(&json);
    ml_json_end_object(&json);
    return ml_answer_json(connection, MHD_HTTP_OK, &json);
}

/* NULL: there is no such file */
static const char *path_of(const struct ml_served_files *files, const char *number)
{
    size_t count = atomic_load_explicit(&files->count, memory_order_acquire);
    char *end;
    unsigned long id = number ? strtoul(number, &end, 10) : 0;

    return number && end != number && !*end && id < count ? files->paths[id] : NULL;
}

enum MHD_Result ml_answer_state(struct MHD_Connection *connection,
                                const struct ml_served_files *files, const char *number)
{
    const char *path = path_of(files, number);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    struct ml_buf text = {0};
    struct ml_json json;
    struct stat info;
    bool found = fd >= 0 && fstat(fd, &info) == 0;

    ml_json_init(&json, &text, false);
    if (found) {
        ml_json_begin_object(&json);
        ml_json_kv_u64(&json, "bytes", (uint64_t)info.st_size);
        ml_json_kv_u64(&json, "modified_ns", modified_ns(&info));
        ml_json_kv_u64(&json, "inode", info.st_ino);
        ml_json_kv_bool(&json, "recording", ml_file_lock_is_signed(fd));
        ml_json_end_object(&json);
    }
    if (fd >= 0)
        close(fd);
    if (!path)
        return ml_answer_error(connection, MHD_HTTP_BAD_REQUEST, "there is no file of that number");
    if (!found)
        return ml_answer_error(connection, MHD_HTTP_UNPROCESSABLE_CONTENT, "the file is gone");
    return ml_answer_json(connection, MHD_HTTP_OK, &json);
}
