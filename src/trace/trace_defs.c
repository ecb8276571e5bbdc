/* trace_defs.c: stores definition records in tables by number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trace_defs.h"

#include <errno.h>
#include <string.h>

#include "block.h"
#include "compiler.h"
#include "trace.h"
#include "sampled.h"

static const struct ml_trace_text blank_text = {"?", 1};
static const struct ml_process blank_process = {.parent = -1};
static const struct ml_thread blank_thread;
static const struct ml_space blank_space;
static const struct ml_scope blank_scope;
static const struct ml_object blank_object = {.domain = -1};
static const struct ml_config blank_config;
static const struct ml_library blank_library;
static const struct ml_frame blank_frame = {.library = -1};
/* A frame number that no trace has, since frame 0 may be defined. */
static const struct ml_stack blank_stack = {.frame = UINT32_MAX};

static void init_tables(struct ml_id_table *tables)
{
    ml_id_table_init(&tables[ML_DEF_STRING], sizeof(blank_text), &blank_text);
    ml_id_table_init(&tables[ML_DEF_PROCESS], sizeof(blank_process), &blank_process);
    ml_id_table_init(&tables[ML_DEF_THREAD], sizeof(blank_thread), &blank_thread);
    ml_id_table_init(&tables[ML_DEF_SPACE], sizeof(blank_space), &blank_space);
    ml_id_table_init(&tables[ML_DEF_SCOPE], sizeof(blank_scope), &blank_scope);
    ml_id_table_init(&tables[ML_DEF_OBJECT], sizeof(blank_object), &blank_object);
    ml_id_table_init(&tables[ML_DEF_CONFIG], sizeof(blank_config), &blank_config);
    ml_id_table_init(&tables[ML_DEF_LIBRARY], sizeof(blank_library), &blank_library);
    ml_id_table_init(&tables[ML_DEF_FRAME], sizeof(blank_frame), &blank_frame);
    ml_id_table_init(&tables[ML_DEF_STACK], sizeof(blank_stack), &blank_stack);
}

int ml_trace_defs_init(struct ml_trace_defs *d, uint64_t file_bytes, bool salvage)
{
    static const struct ml_trace_text empty = {"", 0};

    *d = (struct ml_trace_defs){
        .salvage = salvage,
        .raw_left = ml_trace_most_raw(file_bytes),
        .gaps_left = file_bytes,
    };
    ml_arena_init(&d->arena);
    init_tables(d->tables);
    if (ml_id_table_put(&d->tables[ML_DEF_STRING], 0, &empty) ||
        ml_id_table_put(&d->tables[ML_DEF_STACK], 0, &blank_stack))
        return -ENOMEM;
    return ml_id_table_put(&d->tables[ML_DEF_SCOPE], 0, &blank_scope);
}

void ml_trace_defs_release(struct ml_trace_defs *d)
{
    for (int tag = 1; tag < ML_DEF_TAGS; tag++)
        ml_id_table_release(&d->tables[tag]);
    ml_arena_release(&d->arena);
}

bool ml_trace_defs_admit(struct ml_trace_defs *d, uint32_t raw_bytes)
{
    if (raw_bytes > d->raw_left)
        return false;
    d->raw_left -= raw_bytes;
    return true;
}

void ml_trace_defs_allow(struct ml_trace_defs *d, uint64_t file_bytes)
{
    d->raw_left += file_bytes * ML_TRACE_RAW_PER_FILE_BYTE;
    d->gaps_left += file_bytes;
}

/* Numbers ascend by one, from 0 or 1; if blocks were lost, some may be missing. */
static bool number_fits(struct ml_trace_defs *d, const struct ml_def *def)
{
    size_t next = d->tables[def->tag].len;

    if (def->id == next || (!next && def->id == 1))
        return true;
    if (!d->salvage || def->id < next || def->id - next > d->gaps_left)
        return false;
    d->gaps_left -= def->id - next;
    return true;
}

static bool values_fit(const struct ml_def *def)
{
    static const uint8_t wide_fields[ML_DEF_TAGS] = {
        [ML_DEF_PROCESS] = 1 << ML_PROCESS_START_NS,
        [ML_DEF_THREAD] = 1 << ML_THREAD_START_NS,
        [ML_DEF_LIBRARY] = 1 << ML_LIBRARY_BASE | 1 << ML_LIBRARY_END,
        [ML_DEF_FRAME] = 1 << ML_FRAME_WHAT,
    };

    for (int i = 0; i < ML_DEF_FIELDS; i++) {
        if (def->fields[i] > UINT32_MAX && !(wide_fields[def->tag] >> i & 1))
            return false;
    }
    return true;
}

static int put(struct ml_trace_defs *d, const struct ml_def *def, const void *item)
{
    return ml_id_table_put(&d->tables[def->tag], def->id, item);
}

static int put_string(struct ml_trace_defs *d, const struct ml_def *def)
{
    struct ml_trace_text text = {ml_arena_dup(&d->arena, def->bytes, def->len), def->len};

    return text.bytes ? put(d, def, &text) : -ENOMEM;
}

static int put_process(struct ml_trace_defs *d, const struct ml_def *def)
{
    const uint64_t *f = def->fields;
    struct ml_process process = {
        .pid = (uint32_t)f[ML_PROCESS_PID],
        .parent = (int64_t)f[ML_PROCESS_PARENT] - 1,
        .how = (uint32_t)f[ML_PROCESS_HOW],
        .start_ns = f[ML_PROCESS_START_NS],
        .command = (uint32_t)f[ML_PROCESS_COMMAND],
        .role = (uint32_t)f[ML_PROCESS_ROLE],
    };

    return process.parent < def->id ? put(d, def, &process) : -EBADMSG;
}

static int put_thread(struct ml_trace_defs *d, const struct ml_def *def)
{
    const uint64_t *f = def->fields;
    struct ml_thread thread = {
        .process = (uint32_t)f[ML_THREAD_PROCESS],
        .tid = (uint32_t)f[ML_THREAD_TID],
        .start_ns = f[ML_THREAD_START_NS],
        .name = (uint32_t)f[ML_THREAD_NAME],
    };

    return put(d, def, &thread);
}

static int put_space(struct ml_trace_defs *d, const struct ml_def *def)
{
    const uint64_t *f = def->fields;
    struct ml_space space = {
        .process = (uint32_t)f[ML_SPACE_PROCESS],
        .device = (uint32_t)f[ML_SPACE_DEVICE],
        .level = (uint32_t)f[ML_SPACE_LEVEL],
        .name = (uint32_t)f[ML_SPACE_NAME],
        .sampled_bytes = ml_min_u64(f[ML_SPACE_SAMPLED], ML_SAMPLE_BYTES_MAX),
        .least_bytes = f[ML_SPACE_LEAST],
    };

    return put(d, def, &space);
}

static int put_scope(struct ml_trace_defs *d, const struct ml_def *def)
{
    const uint64_t *f = def->fields;
    struct ml_scope scope = {
        .parent = (uint32_t)f[ML_SCOPE_PARENT],
        .kind = (uint32_t)f[ML_SCOPE_KIND],
        .name = (uint32_t)f[ML_SCOPE_NAME],
        .class_name = (uint32_t)f[ML_SCOPE_CLASS],
    };
    const struct ml_scope *parent = ml_id_table_get(&d->tables[ML_DEF_SCOPE], scope.parent);

    scope.depth = parent->depth + 1;
    if (scope.parent >= def->id || scope.depth > ML_SCOPE_MAX_DEPTH)
        return -EBADMSG;
    return put(d, def, &scope);
}

static int put_object(struct ml_trace_defs *d, const struct ml_def *def)
{
    const uint64_t *f = def->fields;
    struct ml_object object = {
        .process = (uint32_t)f[ML_OBJECT_PROCESS],
        .kind = (uint32_t)f[ML_OBJECT_KIND],
        .domain = (int64_t)f[ML_OBJECT_DOMAIN] - 1,
        .name = (uint32_t)f[ML_OBJECT_NAME],
    };

    return object.domain < def->id ? put(d, def, &object) : -EBADMSG;
}

/* The record's number is its key; settings are numbered in file order. */
static int put_config(struct ml_trace_defs *d, const struct ml_def *def)
{
    struct ml_config config = {.key = def->id, .value = (uint32_t)def->fields[ML_CONFIG_VALUE]};
    struct ml_id_table *table = &d->tables[ML_DEF_CONFIG];

    if (table->len >= ML_TRACE_CONFIGS_MAX)
        return -EBADMSG;
    return ml_id_table_put(table, (uint32_t)table->len, &config);
}

static int rename_thread(struct ml_trace_defs *d, const struct ml_def *def)
{
    struct ml_thread *thread = ml_id_table_at(&d->tables[ML_DEF_THREAD], def->id);

    if (!thread)
        return d->salvage ? 0 : -EBADMSG;
    thread->name = (uint32_t)def->fields[ML_GIVEN_NAME];
    return 0;
}

/* The role or the place of a process, whichever the tag says. */
static int redefine_process(struct ml_trace_defs *d, const struct ml_def *def)
{
    struct ml_process *process = ml_id_table_at(&d->tables[ML_DEF_PROCESS], def->id);

    if (!process)
        return d->salvage ? 0 : -EBADMSG;
    *(def->tag == ML_DEF_PROCESS_ROLE ? &process->role : &process->place) =
        (uint32_t)def->fields[ML_GIVEN_NAME];
    return 0;
}

static int put_def(struct ml_trace_defs *d, const struct ml_def *def)
{
    switch (def->tag) {
    case ML_DEF_STRING: return put_string(d, def);
    case ML_DEF_PROCESS: return put_process(d, def);
    case ML_DEF_THREAD: return put_thread(d, def);
    case ML_DEF_SPACE: return put_space(d, def);
    case ML_DEF_SCOPE: return put_scope(d, def);
    case ML_DEF_OBJECT: return put_object(d, def);
    case ML_DEF_CONFIG: return put_config(d, def);
    case ML_DEF_THREAD_NAME: return rename_thread(d, def);
    case ML_DEF_PROCESS_ROLE:
    case ML_DEF_PROCESS_PLACE: return redefine_process(d, def);
    default: return ml_trace_defs_add_stack_part(d, def);
    }
}

/* A setting's number is its key; that of others is the number of what they name. */
static bool has_own_number(const struct ml_def *def)
{
    switch (def->tag) {
    case ML_DEF_CONFIG:
    case ML_DEF_SYMBOL:
    case ML_DEF_THREAD_NAME:
    case ML_DEF_PROCESS_ROLE:
    case ML_DEF_PROCESS_PLACE: return false;
    default: return true;
    }
}

static int add_def(struct ml_trace_defs *d, const struct ml_def *def, const char **ret_reason)
{
    int code;

    if (def->tag >= ML_DEF_TAGS)
        return 0;
    if (has_own_number(def) && !number_fits(d, def)) {
        *ret_reason = "a definition's number is out of order";
        return -EBADMSG;
    }
    code = values_fit(def) ? put_def(d, def) : -EBADMSG;
    if (code == -EBADMSG)
        *ret_reason = "a definition's value is out of range";
    return code;
}

int ml_trace_defs_add(struct ml_trace_defs *d, const uint8_t *raw, size_t raw_bytes,
                      const char **ret_reason)
{
    const uint8_t *end = raw + raw_bytes;
    struct ml_def def;

    while (raw < end) {
        int code;

        raw = ml_def_get(raw, end, &def);
        if (!raw) {
            *ret_reason = "a definition cannot be read";
            return -EBADMSG;
        }
        code = add_def(d, &def, ret_reason);
        if (code)
            return code;
    }
    return 0;
}
