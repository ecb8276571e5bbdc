/* import_sink.c: see import_sink.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "import_sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_lock.h"
#include "part_file.h"

/* ---- The file ----------------------------------------------------------- */

/* A file that another can replace, unlike /dev/stdout. */
static bool is_replaceable(const char *path)
{
    struct stat st;

    return stat(path, &st) < 0 || S_ISREG(st.st_mode);
}

static int cannot_create(const struct ml_import_sink *k, int r, struct ml_error *err)
{
    return ml_error_set(err, r, "cannot create %s: %s; choose another place with -o", k->path,
                        strerror(-r));
}

/* A temporary file beside the requested one; the trace writer opens it by name. */
static int make_part(struct ml_import_sink *k, struct ml_error *err)
{
    int fd = ml_part_make(k->path, &k->part);

    if (fd < 0)
        return cannot_create(k, fd, err);
    close(fd);
    return 0;
}

int ml_import_sink_open(struct ml_import_sink *k, const char *path, bool force,
                        struct ml_error *err)
{
    memset(k, 0, sizeof(*k));
    k->path = path;
    k->force = force;
    if (path && !force && is_replaceable(path) && access(path, F_OK) == 0)
        return ml_part_exists(path, err);
    if (path && force && ml_file_lock_check(path, err))
        return err->code;
    if (ml_dict_init(&k->dict) < 0) {
        ml_dict_release(&k->dict);
        return ml_error_set(err, -ENOMEM, "not enough memory");
    }
    if (path && is_replaceable(path) && make_part(k, err) < 0) {
        ml_dict_release(&k->dict);
        return err->code;
    }
    return 0;
}

static void fail(struct ml_import_sink *k, int code, const char *text)
{
    if (!k->why.code)
        ml_error_set(&k->why, code, "%s", text);
}

/* Not before the first event, since the header has the wall clock of time 0. */
static bool is_writing(struct ml_import_sink *k)
{
    struct ml_error err = {0};

    if (k->writing || k->why.code)
        return k->writing;
    if (ml_trace_writer_open(&k->writer, k->part ? k->part : k->path, true, k->start_wall_ns,
                             &k->dict, &err) < 0)
        fail(k, err.code, err.text);
    else
        k->writing = true;
    return k->writing;
}

static void release(struct ml_import_sink *k)
{
    ml_import_sort_release(&k->sort);
    ml_dict_release(&k->dict);
    ml_intern_release(&k->defined);
    ml_vec_release(&k->numbers);
    free(k->part);
    memset(k, 0, sizeof(*k));
}

void ml_import_sink_abandon(struct ml_import_sink *k)
{
    if (k->writing)
        ml_trace_writer_close(&k->writer);
    if (k->part)
        unlink(k->part);
    release(k);
}

int ml_import_sink_check(const struct ml_import_sink *k, struct ml_error *err)
{
    if (k->why.code)
        return ml_error_set(err, k->why.code, "%s", k->why.text);
    if (k->dict.error)
        return ml_error_set(err, k->dict.error, "%s",
                            k->dict.error == -ENOMEM ? "not enough memory"
                                                     : "more names than a trace can store");
    return 0;
}

/* ---- Events ------------------------------------------------------------- */

static void put(struct ml_import_sink *k, const struct ml_event *event)
{
    struct ml_event own = *event;

    k->events++;
    k->samples += event->kind == ML_SAMPLE;
    own.time_ns = ml_min_u64(own.time_ns, INT64_MAX); /* the latest time of a trace */
    if (k->tap) {
        k->tap(k->tap_ctx, &own);
        return;
    }
    if (!k->path || !is_writing(k))
        return;
    ml_trace_writer_relieve(&k->writer);
    ml_trace_writer_event(&k->writer, &own);
}

void ml_import_event(struct ml_import_sink *k, const struct ml_event *event)
{
    if (!k->unordered)
        put(k, event);
    else if (!k->why.code && ml_import_sort_add(&k->sort, event) < 0)
        fail(k, k->sort.error,
             k->sort.error == -ENOMEM ? "not enough memory"
                                      : "cannot sort the events: no room for temporary files; set "
                                        "TMPDIR to another folder");
}

static void begin_time(struct ml_import_sink *k, uint64_t first_ns)
{
    k->zero_ns = first_ns;
    if (k->wall_known)
        k->start_wall_ns = k->wall_base_ns + first_ns;
}

void ml_import_sink_sort(struct ml_import_sink *k)
{
    struct ml_event event;
    bool first = true;

    if (!k->unordered)
        return;
    while (ml_import_sort_next(&k->sort, &event)) {
        if (first && k->absolute)
            begin_time(k, event.time_ns);
        first = false;
        if (k->on_ordered && !k->on_ordered(k->ordered_ctx, &event))
            continue;
        event.time_ns -= k->zero_ns;
        put(k, &event);
    }
    k->unordered = false;
    if (k->sort.error)
        fail(k, k->sort.error, "cannot sort the events: a temporary file cannot be read back");
}

uint64_t ml_import_address(struct ml_import_sink *k)
{
    ml_import_unknown(k, ML_UNKNOWN_ADDRESSES);
    return ++k->addresses;
}

/* ---- Definitions -------------------------------------------------------- */

static uint32_t define(struct ml_import_sink *k, enum ml_def_tag tag,
                       const uint64_t fields[ML_DEF_FIELDS])
{
    uint64_t key[ML_DEF_FIELDS + 1] = {tag};
    bool is_new = false;
    int64_t at;

    memcpy(&key[1], fields, ML_DEF_FIELDS * sizeof(fields[0]));
    if (ml_vec_reserve(&k->numbers, 1) < 0 ||
        (at = ml_intern_put(&k->defined, key, sizeof(key), &is_new)) < 0) {
        fail(k, -ENOMEM, "not enough memory");
        return 0;
    }
    if (is_new)
        (void)ml_vec_push(&k->numbers, ml_dict_add(&k->dict, tag, fields));
    return k->numbers.items[at];
}

uint32_t ml_import_process(struct ml_import_sink *k, uint32_t pid, const char *command)
{
    return define(k, ML_DEF_PROCESS,
                  (uint64_t[ML_DEF_FIELDS]){
                      [ML_PROCESS_PID] = pid,
                      [ML_PROCESS_HOW] = ML_STARTED,
                      [ML_PROCESS_COMMAND] = ml_dict_cstr(&k->dict, command),
                  });
}

uint32_t ml_import_thread(struct ml_import_sink *k, uint32_t process, uint32_t tid,
                          const char *name)
{
    return define(k, ML_DEF_THREAD,
                  (uint64_t[ML_DEF_FIELDS]){
                      [ML_THREAD_PROCESS] = process,
                      [ML_THREAD_TID] = tid,
                      [ML_THREAD_NAME] = ml_dict_cstr(&k->dict, name),
                  });
}

uint32_t ml_import_space(struct ml_import_sink *k, uint32_t process, const char *device,
                         uint32_t level, const char *name)
{
    return define(k, ML_DEF_SPACE,
                  (uint64_t[ML_DEF_FIELDS]){
                      [ML_SPACE_PROCESS] = process,
                      [ML_SPACE_DEVICE] = ml_dict_cstr(&k->dict, device),
                      [ML_SPACE_LEVEL] = level,
                      [ML_SPACE_NAME] = ml_dict_cstr(&k->dict, name),
                  });
}

uint32_t ml_import_object(struct ml_import_sink *k, uint32_t process, uint32_t kind,
                          uint32_t domain, uint32_t name)
{
    return define(k, ML_DEF_OBJECT,
                  (uint64_t[ML_DEF_FIELDS]){
                      [ML_OBJECT_PROCESS] = process,
                      [ML_OBJECT_KIND] = kind,
                      [ML_OBJECT_DOMAIN] = domain,
                      [ML_OBJECT_NAME] = name,
                  });
}

/* ---- The end ------------------------------------------------------------ */

static void tell_unknown(struct ml_import_sink *k)
{
    char names[ML_UNKNOWN_TEXT_BYTES];

    ml_dict_config(&k->dict, ML_SETTING_IMPORT_UNKNOWN, ml_unknowns_text(k->unknown, names));
}

/* Another process may have taken the name since the sink was opened. */
static int put_in_place(const struct ml_import_sink *k, struct ml_error *err)
{
    int r = k->part ? ml_part_place(k->part, k->path, k->force) : 0;

    if (r == 0)
        return 0;
    unlink(k->part);
    return r == -EEXIST ? ml_part_exists(k->path, err) : cannot_create(k, r, err);
}

int ml_import_sink_close(struct ml_import_sink *k, struct ml_import_counts *ret,
                         struct ml_error *err)
{
    int r;

    tell_unknown(k);
    ml_import_sink_sort(k);
    if (k->path && !k->tap)
        is_writing(k); /* a file without events is a trace too */
    r = ml_import_sink_check(k, err);
    if (r < 0) {
        ml_import_sink_abandon(k);
        return r;
    }
    if (k->writing) {
        r = ml_trace_writer_close(&k->writer);
        k->writing = false;
        if (r < 0) {
            if (k->part)
                unlink(k->part);
            ml_error_set(err, r, "cannot write %s: %s", k->path, strerror(-r));
        } else {
            r = put_in_place(k, err);
        }
    }
    if (r == 0 && ret)
        *ret = (struct ml_import_counts){k->events - k->samples, k->samples, k->unnamed_frames};
    release(k);
    return r;
}
