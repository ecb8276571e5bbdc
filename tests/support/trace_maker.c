/* trace_maker.c: definitions and events into a trace file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trace_maker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include "encode.h"
#include "index.h"
#include "io.h"
#include "vec.h"

#define DEFS_FLUSH_BYTES (1u << 20)

/* Some megabytes. One that is no longer used is kept for the next maker, since fuzzers make
 * millions of small traces. */
struct workspace {
    struct ml_encoder encoder;
    uint8_t raw[ML_EVENTS_RAW_MAX];
};

static struct workspace *spare;

struct ml_maker {
    struct ml_maker_opts opts;
    int fd;
    bool owns_fd;
    int error;
    uint64_t offset;
    uint32_t sequence;
    uint32_t next_id[ML_DEF_TAGS];
    uint32_t def_count; /* in defs */
    struct ml_buf defs;
    struct ml_buf packed;
    ML_VEC(struct ml_index_entry) blocks;
    struct ml_index_totals totals;
    struct workspace *work;
};

static struct workspace *take_workspace(void)
{
    struct workspace *work = spare ? spare : calloc(1, sizeof(*work));

    spare = NULL;
    if (work)
        ml_encoder_init(&work->encoder);
    return work;
}

static void give_workspace_back(struct workspace *work)
{
    free(spare);
    spare = work;
}

static void fail(struct ml_maker *m, int code)
{
    if (code && !m->error)
        m->error = code;
}

static void write_bytes(struct ml_maker *m, const void *bytes, size_t len)
{
    if (m->error)
        return;
    fail(m, ml_write_all(m->fd, bytes, len));
    m->offset += len;
}

struct ml_maker *ml_maker_on_fd(int fd, const struct ml_maker_opts *opts)
{
    struct ml_maker *m = calloc(1, sizeof(*m));
    uint8_t head[ML_FILE_HEADER_BYTES];

    if (!m)
        return NULL;
    m->work = take_workspace();
    if (!m->work) {
        free(m);
        return NULL;
    }
    if (opts)
        m->opts = *opts;
    if (!m->opts.block_events)
        m->opts.block_events = ML_BLOCK_MAX_EVENTS;
    if (!m->opts.zstd_level)
        m->opts.zstd_level = 1;
    m->fd = fd;
    m->next_id[ML_DEF_STRING] = m->next_id[ML_DEF_SCOPE] = m->next_id[ML_DEF_STACK] = 1;
    ml_file_header_put(head, &(struct ml_file_header){
                                 .major = ML_FORMAT_MAJOR,
                                 .minor = ML_FORMAT_MINOR,
                                 .features = ML_FORMAT_FEATURES,
                                 .start_wall_ns = m->opts.start_wall_ns,
                             });
    write_bytes(m, head, sizeof(head));
    return m;
}

struct ml_maker *ml_maker_create(const char *path, const struct ml_maker_opts *opts)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct ml_maker *m = fd < 0 ? NULL : ml_maker_on_fd(fd, opts);

    if (m)
        m->owns_fd = true;
    else if (fd >= 0)
        close(fd);
    return m;
}

/* Compresses into m->packed. @return bytes, 0 on failure */
static size_t pack(struct ml_maker *m, const void *raw, size_t raw_bytes)
{
    size_t got;

    ml_buf_clear(&m->packed);
    if (ml_buf_reserve(&m->packed, ZSTD_compressBound(raw_bytes))) {
        fail(m, -ENOMEM);
        return 0;
    }
    got = ZSTD_compress(m->packed.data, m->packed.cap, raw, raw_bytes, m->opts.zstd_level);
    if (ZSTD_isError(got)) {
        fail(m, -EIO);
        return 0;
    }
    return got;
}

/* Numbers and writes the block; of `h` type, times and events are given. */
static void write_block(struct ml_maker *m, const struct ml_block_header *h, const void *raw,
                        size_t raw_bytes)
{
    uint8_t head[ML_BLOCK_HEADER_BYTES];
    struct ml_block_header header = *h;
    const void *stored = raw;

    header.codec = m->opts.stored ? ML_CODEC_STORED : ML_CODEC_ZSTD;
    header.raw_bytes = header.stored_bytes = (uint32_t)raw_bytes;
    header.sequence = m->sequence++;
    if (!m->opts.stored) {
        header.stored_bytes = (uint32_t)pack(m, raw, raw_bytes);
        stored = m->packed.data;
    }
    if (m->error)
        return;
    fail(m, ml_vec_push(&m->blocks, (struct ml_index_entry){
                                        .offset = m->offset,
                                        .first_ns = header.first_ns,
                                        .last_ns = header.last_ns,
                                        .stored_bytes = header.stored_bytes,
                                        .events = header.events,
                                        .type = header.type,
                                    }));
    ml_block_header_put(head, &header, stored);
    write_bytes(m, head, sizeof(head));
    write_bytes(m, stored, header.stored_bytes);
}

static void flush_defs(struct ml_maker *m)
{
    if (!m->defs.len)
        return;
    write_block(m, &(struct ml_block_header){.type = ML_BLOCK_DEFS, .events = m->def_count},
                m->defs.data, m->defs.len);
    ml_buf_clear(&m->defs);
    m->def_count = 0;
}

static void flush_events(struct ml_maker *m)
{
    struct ml_block_header h = {.type = ML_BLOCK_EVENTS};
    size_t raw_bytes = ml_encoder_finish(&m->work->encoder, m->work->raw, &h);

    if (raw_bytes)
        write_block(m, &h, m->work->raw, raw_bytes);
}

void ml_maker_flush(struct ml_maker *m)
{
    if (!m || m->error)
        return;
    flush_defs(m); /* before what uses them */
    flush_events(m);
}

void ml_maker_block(struct ml_maker *m, const struct ml_block_header *h, const void *raw,
                    size_t raw_bytes)
{
    ml_maker_flush(m);
    if (m && !m->error)
        write_block(m, h, raw, raw_bytes);
}

static void write_index(struct ml_maker *m)
{
    size_t most = ML_INDEX_COUNT_MAX + m->blocks.len * ML_INDEX_ENTRY_MAX + ML_INDEX_TOTALS_MAX;
    struct ml_trailer trailer = {.index_offset = m->offset};
    uint8_t tail[ML_TRAILER_BYTES];
    uint8_t *raw = malloc(most);
    uint64_t previous = 0;
    uint8_t *p = raw;

    if (!raw) {
        fail(m, -ENOMEM);
        return;
    }
    p = ml_varint_put(p, m->blocks.len);
    for (size_t i = 0; i < m->blocks.len; i++) {
        p = ml_index_entry_put(p, &m->blocks.items[i], previous);
        previous = m->blocks.items[i].offset;
    }
    p = ml_index_totals_put(p, &m->totals);
    write_block(
        m, &(struct ml_block_header){.type = ML_BLOCK_INDEX, .events = (uint32_t)m->blocks.len},
        raw, (size_t)(p - raw));
    trailer.file_bytes = m->offset + sizeof(tail);
    ml_trailer_put(tail, &trailer);
    write_bytes(m, tail, sizeof(tail));
    free(raw);
}

int ml_maker_close(struct ml_maker *m)
{
    int code;

    if (!m)
        return errno ? -errno : -ENOMEM;
    ml_maker_flush(m);
    if (!m->error && !m->opts.no_index)
        write_index(m);
    if (m->owns_fd && close(m->fd))
        fail(m, -errno);
    code = m->error;
    ml_buf_release(&m->defs);
    ml_buf_release(&m->packed);
    ml_vec_release(&m->blocks);
    give_workspace_back(m->work);
    free(m);
    return code;
}

void ml_maker_event(struct ml_maker *m, const struct ml_event *ev)
{
    if (!m || m->error)
        return;
    if (m->work->encoder.events >= m->opts.block_events || ml_encoder_full(&m->work->encoder))
        ml_maker_flush(m);
    ml_encoder_add(&m->work->encoder, ev);
    m->totals.events[ev->kind]++;
    if (ev->kind == ML_LOST && ml_lost_is_events(ev->args[2]))
        m->totals.lost += ev->args[0];
}

void ml_maker_def(struct ml_maker *m, const struct ml_def *def)
{
    uint8_t *end;

    if (!m || m->error)
        return;
    if (ml_buf_reserve(&m->defs, ml_def_room(def))) {
        fail(m, -ENOMEM);
        return;
    }
    end = ml_def_put(m->defs.data + m->defs.len, def);
    m->defs.len = (size_t)(end - m->defs.data);
    m->def_count++;
    if (m->defs.len > DEFS_FLUSH_BYTES)
        flush_defs(m);
}

/* A record with the next number of its tag. */
static uint32_t define(struct ml_maker *m, struct ml_def *def)
{
    if (!m)
        return 0;
    def->id = m->next_id[def->tag]++;
    ml_maker_def(m, def);
    return def->id;
}

uint32_t ml_maker_bytes(struct ml_maker *m, const void *bytes, uint32_t len)
{
    return define(m, &(struct ml_def){.tag = ML_DEF_STRING, .bytes = bytes, .len = len});
}

uint32_t ml_maker_string(struct ml_maker *m, const char *text)
{
    return ml_maker_bytes(m, text, (uint32_t)strlen(text));
}

uint32_t ml_maker_process(struct ml_maker *m, uint32_t pid, int64_t parent, uint32_t command)
{
    return define(m, &(struct ml_def){
                         .tag = ML_DEF_PROCESS,
                         .fields = {[ML_PROCESS_PID] = pid,
                                    [ML_PROCESS_PARENT] = (uint64_t)(parent + 1),
                                    [ML_PROCESS_HOW] = parent < 0 ? ML_STARTED : ML_FORKED,
                                    [ML_PROCESS_COMMAND] = command},
                     });
}

uint32_t ml_maker_thread(struct ml_maker *m, uint32_t process, uint32_t tid, uint32_t name)
{
    return define(
        m, &(struct ml_def){
               .tag = ML_DEF_THREAD,
               .fields =
                   {[ML_THREAD_PROCESS] = process, [ML_THREAD_TID] = tid, [ML_THREAD_NAME] = name},
           });
}

uint32_t ml_maker_space(struct ml_maker *m, uint32_t process, uint32_t device, uint32_t level,
                        uint32_t name)
{
    return define(m, &(struct ml_def){
                         .tag = ML_DEF_SPACE,
                         .fields = {[ML_SPACE_PROCESS] = process,
                                    [ML_SPACE_DEVICE] = device,
                                    [ML_SPACE_LEVEL] = level,
                                    [ML_SPACE_NAME] = name},
                     });
}

uint32_t ml_maker_scope(struct ml_maker *m, uint32_t parent, uint32_t kind, uint32_t name)
{
    return ml_maker_class_scope(m, parent, kind, name, 0);
}

uint32_t ml_maker_class_scope(struct ml_maker *m, uint32_t parent, uint32_t kind, uint32_t name,
                              uint32_t class_name)
{
    return define(m, &(struct ml_def){
                         .tag = ML_DEF_SCOPE,
                         .fields = {[ML_SCOPE_PARENT] = parent,
                                    [ML_SCOPE_KIND] = kind,
                                    [ML_SCOPE_NAME] = name,
                                    [ML_SCOPE_CLASS] = class_name},
                     });
}

uint32_t ml_maker_object(struct ml_maker *m, uint32_t process, uint32_t kind, int64_t domain,
                         uint32_t name)
{
    return define(m, &(struct ml_def){
                         .tag = ML_DEF_OBJECT,
                         .fields = {[ML_OBJECT_PROCESS] = process,
                                    [ML_OBJECT_KIND] = kind,
                                    [ML_OBJECT_DOMAIN] = (uint64_t)(domain + 1),
                                    [ML_OBJECT_NAME] = name},
                     });
}

uint32_t ml_maker_library(struct ml_maker *m, uint32_t process, uint64_t base, uint64_t end,
                          const char *path, const char *build_id)
{
    uint32_t path_string = ml_maker_string(m, path);
    uint32_t id_string = ml_maker_string(m, build_id);

    return define(m, &(struct ml_def){.tag = ML_DEF_LIBRARY,
                                      .fields = {[ML_LIBRARY_PROCESS] = process,
                                                 [ML_LIBRARY_BASE] = base,
                                                 [ML_LIBRARY_END] = end,
                                                 [ML_LIBRARY_PATH] = path_string,
                                                 [ML_LIBRARY_BUILD_ID] = id_string}});
}

uint32_t ml_maker_frame(struct ml_maker *m, int64_t library, uint64_t address)
{
    return define(m, &(struct ml_def){.tag = ML_DEF_FRAME,
                                      .fields = {[ML_FRAME_KIND] = ML_FRAME_NATIVE,
                                                 [ML_FRAME_WHERE] = (uint64_t)(library + 1),
                                                 [ML_FRAME_WHAT] = address}});
}

uint32_t ml_maker_python_frame(struct ml_maker *m, const char *function, const char *file,
                               uint32_t line)
{
    uint32_t function_string = ml_maker_string(m, function);
    uint32_t file_string = ml_maker_string(m, file);

    return define(m, &(struct ml_def){.tag = ML_DEF_FRAME,
                                      .fields = {[ML_FRAME_KIND] = ML_FRAME_PYTHON,
                                                 [ML_FRAME_WHERE] = function_string,
                                                 [ML_FRAME_WHAT] = file_string,
                                                 [ML_FRAME_LINE] = line}});
}

uint32_t ml_maker_stack(struct ml_maker *m, uint32_t caller, uint32_t frame)
{
    return define(
        m, &(struct ml_def){.tag = ML_DEF_STACK,
                            .fields = {[ML_STACK_CALLER] = caller, [ML_STACK_FRAME] = frame}});
}

void ml_maker_symbol(struct ml_maker *m, uint32_t frame, const char *function)
{
    uint32_t name = ml_maker_string(m, function);

    ml_maker_def(m, &(struct ml_def){.tag = ML_DEF_SYMBOL,
                                     .id = frame,
                                     .fields = {[ML_SYMBOL_FUNCTION] = name}});
}

void ml_maker_setting(struct ml_maker *m, const char *key, const char *value)
{
    struct ml_def def = {.tag = ML_DEF_CONFIG, .id = ml_maker_string(m, key)};

    def.fields[ML_CONFIG_VALUE] = ml_maker_string(m, value);
    ml_maker_def(m, &def);
}
