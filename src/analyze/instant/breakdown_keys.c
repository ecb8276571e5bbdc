/* breakdown_keys.c: see breakdown_keys.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "breakdown_keys.h"

#include <errno.h>
#include <string.h>

#include "asking_frame.h"
#include "defs.h"
#include "event_names.h"
#include "scope_path.h"
#include "stack_view.h"
#include "text.h"

#define STACK_FRAMES 3 /* in a stack's name, from the frame that made the request outwards */
#define BETWEEN_FRAMES " < "

static const char *const names[] = {
    [ML_KEY_MODULE] = "module", [ML_KEY_CATEGORY] = "category", [ML_KEY_LABEL] = "label",
    [ML_KEY_SCOPE] = "scope",   [ML_KEY_CLASS] = "class",       [ML_KEY_PHASE] = "phase",
    [ML_KEY_THREAD] = "thread", [ML_KEY_STACK] = "stack",       [ML_KEY_FUNCTION] = "function",
    [ML_KEY_FILE] = "file",     [ML_KEY_LIBRARY] = "library",   [ML_KEY_LINE] = "line",
    [ML_KEY_DEVICE] = "device", [ML_KEY_SPACE] = "space",       [ML_KEY_PROCESS] = "process",
};

const char *ml_key_name(enum ml_key key)
{
    return names[key];
}

/* ---- The words of --by ------------------------------------------------- */

static int find_key(const char *word, size_t len)
{
    for (int i = 0; i < ML_KEYS; i++)
        if (strlen(names[i]) == len && memcmp(names[i], word, len) == 0)
            return i;
    return -1;
}

static bool has_key(const struct ml_breakdown_opts *opts, enum ml_key key)
{
    for (size_t i = 0; i < opts->by_count; i++)
        if (opts->by[i] == key)
            return true;
    return false;
}

int ml_breakdown_parse(const char *text, struct ml_breakdown_opts *ret, struct ml_error *err)
{
    const char *word = text ? text : "module,category";

    ret->by_count = 0;
    for (;;) {
        size_t len = strcspn(word, ",");
        int key = find_key(word, len);

        if (key < 0)
            return ml_error_set(err, -EINVAL, "'%.*s' is not one of: " ML_KEY_WORDS, (int)len,
                                word);
        if (!has_key(ret, (enum ml_key)key))
            ret->by[ret->by_count++] = (enum ml_key)key;
        if (word[len] == '\0')
            return 0;
        word += len + 1;
    }
}

void ml_breakdown_split_labels(struct ml_breakdown_opts *opts)
{
    size_t i = opts->by_count;

    if (!has_key(opts, ML_KEY_LABEL) || has_key(opts, ML_KEY_CATEGORY))
        return;
    for (; opts->by[i - 1] != ML_KEY_LABEL; i--)
        opts->by[i] = opts->by[i - 1];
    opts->by[i] = ML_KEY_CATEGORY;
    opts->by_count++;
}

/* ---- Numbers ----------------------------------------------------------- */

/* A module that no other phase calls is in forward. */
static enum ml_phase phase_of(const struct ml_modules *modules, uint32_t scope)
{
    struct ml_scope_fact fact = ml_scope_fact_of(&modules->facts, scope);

    return fact.phase == ML_PHASE_NONE && fact.module != 0 ? ML_PHASE_FORWARD
                                                           : (enum ml_phase)fact.phase;
}

static int64_t class_of(struct ml_modules *modules, const struct ml_block *block)
{
    int64_t module = ml_modules_of(modules, block);

    return module < 0 ? module : modules->list.items[module].class_name;
}

/* Whether the file belongs to Python itself or to an installed package. */
static bool is_installed(const char *file)
{
    static const char *const signs[] = {"/site-packages/", "/dist-packages/", "/lib/python",
                                        "/memledger/_", "<"};

    for (size_t i = 0; i < ML_ARRAY_SIZE(signs); i++)
        if (strstr(file, signs[i]))
            return true;
    return false;
}

/* PyTorch's snapshots have C++ functions among those in Python, mostly without a line. */
static bool is_cpp(const char *file, uint32_t line)
{
    static const char *const endings[] = {"cpp", "cc", "cu", "cuh", "h", "hpp"};
    const char *dot = strrchr(file, '.');

    for (size_t i = 0; dot && i < ML_ARRAY_SIZE(endings); i++)
        if (strcmp(dot + 1, endings[i]) == 0)
            return true;
    return line == 0 && !(dot && strcmp(dot, ".py") == 0);
}

/* Whether the frame is code of the distribution or of a compiler's library, as the functions are
 * that a template of C++ was instantiated from. */
static bool is_of_system(const struct ml_trace *trace, const struct ml_frame *frame)
{
    static const char *const sources[] = {"/usr/include/", "/usr/lib/", "/usr/src/", "/rustc/"};
    static const char *const libraries[] = {"/lib", "/usr/lib"};
    const char *file = ml_trace_string(trace, frame->file, NULL);
    const char *path =
        frame->library < 0
            ? ""
            : ml_trace_string(trace, ml_trace_library(trace, (uint32_t)frame->library)->path, NULL);

    for (size_t i = 0; i < ML_ARRAY_SIZE(sources); i++)
        if (strncmp(file, sources[i], strlen(sources[i])) == 0)
            return true;
    for (size_t i = 0; i < ML_ARRAY_SIZE(libraries); i++)
        if (strncmp(path, libraries[i], strlen(libraries[i])) == 0)
            return true;
    return false;
}

static bool is_own(const struct ml_trace *trace, const struct ml_frame *frame)
{
    const char *file = ml_trace_string(trace, frame->file, NULL);

    if (frame->kind == ML_FRAME_PYTHON)
        return !is_installed(file) && !is_cpp(file, frame->line);
    return frame->line != 0 && !is_of_system(trace, frame);
}

int64_t ml_own_line(const struct ml_trace *trace, uint32_t stack)
{
    int64_t native = 0;
    bool has_python = false;

    for (; stack != 0; stack = ml_trace_stack(trace, stack)->caller) {
        uint32_t number = ml_trace_stack(trace, stack)->frame;
        const struct ml_frame *frame = ml_trace_frame(trace, number);
        bool is_python = frame->kind == ML_FRAME_PYTHON;

        has_python |= is_python;
        if (!(is_python || native == 0) || !is_own(trace, frame))
            continue;
        if (is_python)
            return 1 + (int64_t)number;
        native = 1 + (int64_t)number;
    }
    return has_python ? 0 : native; /* in Python, native frames are the interpreter's */
}

int64_t ml_key_of(enum ml_key key, const struct ml_replay *replay, struct ml_modules *modules,
                  const struct ml_block *block)
{
    const struct ml_replay_space *space = &replay->spaces.items[block->space];

    switch (key) {
    case ML_KEY_MODULE: return ml_modules_of(modules, block);
    case ML_KEY_CLASS: return class_of(modules, block);
    case ML_KEY_CATEGORY: return block->category;
    case ML_KEY_LABEL: return block->label;
    case ML_KEY_SCOPE: return block->scope;
    case ML_KEY_PHASE: return phase_of(modules, block->scope);
    case ML_KEY_THREAD: return ml_block_thread(block);
    case ML_KEY_STACK: return block->stack;
    case ML_KEY_FUNCTION: return ml_asking_function(replay->trace, block->stack);
    case ML_KEY_FILE: return ml_asking_file(replay->trace, block->stack);
    case ML_KEY_LIBRARY: return ml_asking_library(replay->trace, block->stack);
    case ML_KEY_LINE: return ml_own_line(replay->trace, block->stack);
    case ML_KEY_DEVICE: return space->device;
    case ML_KEY_SPACE: return space->number;
    case ML_KEY_PROCESS: return replay->processes.items[space->process].number;
    case ML_KEYS: break;
    }
    return 0;
}

/* ---- Names ------------------------------------------------------------- */

static const char *dup_text(struct ml_arena *arena, struct ml_buf *text, int r)
{
    const char *copy = r < 0 ? NULL : ml_arena_dup(arena, text->data, text->len);

    ml_buf_release(text);
    return copy;
}

static const char *thread_text(const struct ml_trace *trace, uint32_t number,
                               struct ml_arena *arena)
{
    const struct ml_thread *thread = ml_trace_thread(trace, number);
    struct ml_buf text;

    ml_buf_init(&text);
    return dup_text(
        arena, &text,
        ml_buf_printf(&text, "%u %s", thread->tid, ml_trace_string(trace, thread->name, NULL)));
}

static const char *process_text(const struct ml_trace *trace, uint32_t number,
                                struct ml_arena *arena)
{
    const struct ml_process *process = ml_trace_process(trace, number);
    struct ml_buf text;

    ml_buf_init(&text);
    return dup_text(arena, &text,
                    ml_buf_printf(&text, "%u %s%s%s", process->pid,
                                  process->role ? ml_trace_string(trace, process->role, NULL) : "",
                                  process->role ? ": " : "",
                                  ml_trace_string(trace, process->command, NULL)));
}

static const char *space_text(const struct ml_trace *trace, uint32_t number, struct ml_arena *arena)
{
    const struct ml_space *space = ml_trace_space(trace, number);
    struct ml_buf text;

    ml_buf_init(&text);
    return dup_text(arena, &text,
                    ml_buf_printf(&text, "%s/%s", ml_trace_string(trace, space->device, NULL),
                                  ml_trace_string(trace, space->name, NULL)));
}

static int put_frame(struct ml_buf *text, const struct ml_frame_view *frame)
{
    if (!frame->function)
        return ml_buf_printf(text, "%s+0x%llx", frame->library ? ml_base_name(frame->library) : "?",
                             (unsigned long long)frame->offset);
    if (!frame->file)
        return ml_buf_puts(text, frame->function);
    return ml_buf_printf(text, "%s (%s:%u)", frame->function,
                         frame->has_offset ? ml_base_name(frame->file) : frame->file, frame->line);
}

const char *ml_stack_key_text(const struct ml_trace *trace, uint32_t number, size_t also,
                              struct ml_arena *arena)
{
    struct ml_stack_view view = {0};
    struct ml_buf text;
    size_t named;
    int r;

    if (number == 0)
        return "";
    ml_buf_init(&text);
    r = ml_stack_view(trace, number, &view);
    named = view.asker + STACK_FRAMES;
    for (size_t i = view.asker; r == 0 && i < view.frames.len && i < named; i++) {
        r = ml_buf_puts(&text, i > view.asker ? BETWEEN_FRAMES : "");
        if (r == 0)
            r = put_frame(&text, &view.frames.items[i]);
    }
    if (r == 0 && also >= named && also < view.frames.len) {
        r = ml_buf_puts(&text, also > named ? BETWEEN_FRAMES "\xe2\x80\xa6" BETWEEN_FRAMES
                                            : BETWEEN_FRAMES);
        if (r == 0)
            r = put_frame(&text, &view.frames.items[also]);
    }
    ml_stack_view_release(&view);
    return dup_text(arena, &text, r);
}

/* The folder and the name identify a file; a whole path would not fit. */
const char *ml_line_text(const struct ml_trace *trace, uint32_t number, struct ml_arena *arena)
{
    const struct ml_frame *frame = ml_trace_frame(trace, number - 1);
    const char *file = ml_trace_string(trace, frame->file, NULL);
    const char *name = strrchr(file, '/');
    struct ml_buf text;

    if (number == 0)
        return "";
    for (const char *p = file; name && p < name; p++)
        if (*p == '/' && !memchr(p + 1, '/', (size_t)(name - p - 1)))
            file = p + 1;
    ml_buf_init(&text);
    return dup_text(arena, &text,
                    ml_buf_printf(&text, "%s:%u %s", file, frame->line,
                                  ml_trace_string(trace, frame->function, NULL)));
}

static const char *device_text(const struct ml_replay *replay, uint32_t number,
                               struct ml_arena *arena)
{
    size_t len;
    const char *name = ml_intern_get(&replay->device_names, number, &len);

    return ml_arena_dup(arena, name, len);
}

static const char *string_text(const struct ml_trace *trace, uint32_t number,
                               struct ml_arena *arena)
{
    uint32_t len;
    const char *text = ml_trace_string(trace, number, &len);

    return number == 0 ? "" : ml_arena_dup(arena, text, len);
}

const char *ml_key_text(enum ml_key key, const struct ml_replay *replay,
                        const struct ml_modules *modules, uint32_t number, struct ml_arena *arena)
{
    const struct ml_trace *trace = replay->trace;

    switch (key) {
    case ML_KEY_MODULE: return ml_module_title(modules, number, arena);
    case ML_KEY_CATEGORY: return ml_category_name(number);
    case ML_KEY_CLASS:
    case ML_KEY_FILE:
    case ML_KEY_LIBRARY:
    case ML_KEY_LABEL: return string_text(trace, number, arena);
    case ML_KEY_FUNCTION: return ml_function_text(trace, number, arena);
    case ML_KEY_SCOPE: return ml_scope_path_dup(trace, number, arena);
    case ML_KEY_PHASE: return ml_phase_name((enum ml_phase)number);
    case ML_KEY_THREAD: return thread_text(trace, number, arena);
    case ML_KEY_STACK: return ml_stack_key_text(trace, number, 0, arena);
    case ML_KEY_LINE: return ml_line_text(trace, number, arena);
    case ML_KEY_DEVICE: return device_text(replay, number, arena);
    case ML_KEY_SPACE: return space_text(trace, number, arena);
    case ML_KEY_PROCESS: return process_text(trace, number, arena);
    case ML_KEYS: break;
    }
    return "";
}
