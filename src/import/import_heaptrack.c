/* import_heaptrack.c: data files of heaptrack, as `heaptrack` writes them.
 *
 *     v 10400 3              version of heaptrack, of the file
 *     X ./program            the command
 *     s 4 main               a string, numbered from 1
 *     i 55ab 1 2 3 1a        an address: library, then function, file and line of each function
 *                            there, the innermost inlined one first; unknown ones are left out
 *     t 2 1                  a stack: address, caller's stack
 *     a 400 2                a sort of allocation: size, stack; numbered from 0
 *     + 0                    one of this sort is made
 *     - 0                    one is freed
 *     c 1f                   milliseconds since the start
 *
 * Numbers are hexadecimal. The file does not say which block of a sort is freed; it is taken for
 * the last one made.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "block.h"
#include "import_formats.h"
#include "import_limits.h"
#include "memledger/memledger.h"
#include "slice.h"

#define FILE_VERSION_MAX 3 /* strings have a length since this one */
#define NS_PER_MS 1000000u
#define FUNCTIONS_MAX 64u /* of one address */

/* The functions at an address are frames, the innermost first. */
struct place {
    uint32_t first, count;
};

struct stack {
    uint32_t number, depth;
};

struct sort {
    uint64_t bytes;
    uint32_t stack;
    uint32_t last; /* live block + 1, 0: none */
};

struct block {
    uint64_t addr;
    uint32_t before; /* of the same sort, as `last`; of a free entry: the next one */
};

struct import {
    struct ml_import_source *source;
    struct ml_import_sink *sink;
    uint64_t version, time_ns;
    uint32_t process, thread, space;
    bool began;
    ML_VEC(uint32_t) strings;   /* from 1 */
    ML_VEC(uint32_t) libraries; /* number + 1 by string, 0: not defined yet */
    ML_VEC(struct place) places;
    ML_VEC(int64_t) frames;
    ML_VEC(struct stack) stacks;
    ML_VEC(struct sort) sorts;
    ML_VEC(struct block) blocks;
    uint32_t free_block; /* + 1 */
};

/* ---- Numbers ------------------------------------------------------------------------ */

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_hex(struct ml_slice *p, uint64_t *ret)
{
    uint64_t value = 0;
    size_t digits = 0;

    while (p->len > 0 && digit(*p->text) >= 0 && digits < 16) {
        value = value << 4 | (uint64_t)digit(*p->text);
        p->text++;
        p->len--;
        digits++;
    }
    if (digits == 0 || (p->len > 0 && *p->text != ' '))
        return false;
    if (p->len > 0) {
        p->text++;
        p->len--;
    }
    *ret = value;
    return true;
}

static int bad(struct import *m, struct ml_error *err)
{
    if (m->source->line_cut)
        return 0; /* the program was killed while it wrote the line */
    return ml_import_bad(m->source, err, "damaged, or not a file of heaptrack");
}

static int no_memory(struct import *m, struct ml_error *err)
{
    return ml_error_set(err, -ENOMEM, "%s: not enough memory", m->source->name);
}

/* ---- Names -------------------------------------------------------------------------- */

static uint32_t string_of(const struct import *m, uint64_t number)
{
    return number < m->strings.len ? m->strings.items[number] : 0;
}

static int add_string(struct import *m, struct ml_slice p, struct ml_error *err)
{
    uint64_t len;

    if (m->version >= FILE_VERSION_MAX && !take_hex(&p, &len))
        return bad(m, err);
    p.len = p.len < ML_STRING_MAX_BYTES ? p.len : ML_STRING_MAX_BYTES;
    return ml_vec_push(&m->strings, ml_dict_string(&m->sink->dict, p.text, p.len)) < 0
               ? no_memory(m, err)
               : 0;
}

/* Number + 1; 0: unknown. The file does not say where it was loaded. */
static uint32_t library_of(struct import *m, uint64_t string)
{
    if (string == 0 || string >= m->strings.len)
        return 0;
    while (m->libraries.len <= string)
        if (ml_vec_push(&m->libraries, 0) < 0)
            return 0;
    if (m->libraries.items[string] == 0)
        m->libraries.items[string] = 1 + ml_dict_add(&m->sink->dict, ML_DEF_LIBRARY,
                                                     (uint64_t[ML_DEF_FIELDS]){
                                                         [ML_LIBRARY_PROCESS] = m->process,
                                                         [ML_LIBRARY_END] = UINT64_MAX >> 1,
                                                         [ML_LIBRARY_PATH] = string_of(m, string),
                                                     });
    return m->libraries.items[string];
}

/* One of the functions at an address; `level` tells them apart. */
static int64_t frame_of(struct import *m, uint64_t address, uint32_t library, uint32_t level)
{
    return ml_dict_frame(&m->sink->dict, &(struct ml_dict_frame){.kind = ML_FRAME_NATIVE,
                                                                 .where = library,
                                                                 .what = address,
                                                                 .line = level});
}

static int add_frame(struct import *m, int64_t frame, struct ml_error *err)
{
    if (ml_vec_push(&m->frames, frame) < 0)
        return no_memory(m, err);
    m->places.items[m->places.len - 1].count++;
    return 0;
}

static int add_place(struct import *m, struct ml_slice p, struct ml_error *err)
{
    uint64_t address, library = 0, function, file, line;
    int r = 0;

    if (!take_hex(&p, &address) || (p.len > 0 && !take_hex(&p, &library)))
        return bad(m, err);
    if (ml_vec_push(&m->places, (struct place){.first = (uint32_t)m->frames.len}) < 0)
        return no_memory(m, err);
    library = library_of(m, library);
    if (p.len == 0)
        return add_frame(m, frame_of(m, address, (uint32_t)library, 0), err);
    for (uint32_t level = 0; r == 0 && p.len > 0 && level < FUNCTIONS_MAX; level++) {
        int64_t frame = frame_of(m, address, (uint32_t)library, level);

        file = line = 0;
        if (!take_hex(&p, &function) ||
            (p.len > 0 && (!take_hex(&p, &file) || !take_hex(&p, &line))))
            return bad(m, err);
        if (frame >= 0)
            ml_dict_source(&m->sink->dict, (uint32_t)frame, string_of(m, function),
                           string_of(m, file), line < UINT32_MAX ? (uint32_t)line : 0);
        r = add_frame(m, frame, err);
    }
    return r;
}

static int add_stack(struct import *m, struct ml_slice p, struct ml_error *err)
{
    struct stack stack = {0};
    uint64_t place, caller;

    if (!take_hex(&p, &place) || !take_hex(&p, &caller) || place == 0 || place > m->places.len ||
        caller > m->stacks.len)
        return bad(m, err);
    if (caller > 0)
        stack = m->stacks.items[caller - 1];
    for (uint32_t i = m->places.items[place - 1].count;
         i-- > 0 && stack.depth < ML_STACK_MAX_DEPTH;) {
        stack.number = ml_dict_stack(&m->sink->dict, stack.number,
                                     m->frames.items[m->places.items[place - 1].first + i]);
        stack.depth++;
    }
    return ml_vec_push(&m->stacks, stack) < 0 ? no_memory(m, err) : 0;
}

static int add_sort(struct import *m, struct ml_slice p, struct ml_error *err)
{
    struct sort sort = {0};
    uint64_t stack;

    if (!take_hex(&p, &sort.bytes) || !take_hex(&p, &stack) || stack > m->stacks.len)
        return bad(m, err);
    if (sort.bytes > ML_IMPORT_BYTES_MAX)
        return ml_import_bad(m->source, err, ML_IMPORT_TOO_LARGE);
    sort.stack = stack ? m->stacks.items[stack - 1].number : 0;
    return ml_vec_push(&m->sorts, sort) < 0 ? no_memory(m, err) : 0;
}

/* ---- Events ------------------------------------------------------------------------- */

static void put_event(struct import *m, uint8_t kind, const struct sort *sort, uint64_t addr)
{
    struct ml_event event = {
        .kind = kind, .time_ns = m->time_ns, .thread = m->thread, .space = m->space, .addr = addr};

    if (kind == ML_ALLOC) {
        event.size = sort->bytes;
        event.stack = sort->stack;
    }
    ml_import_event(m->sink, &event);
}

/* The entry of a new block + 1; 0: out of memory. */
static uint32_t new_block(struct import *m)
{
    uint32_t entry = m->free_block;

    if (entry) {
        m->free_block = m->blocks.items[entry - 1].before;
        return entry;
    }
    return ml_vec_push(&m->blocks, (struct block){0}) < 0 ? 0 : (uint32_t)m->blocks.len;
}

static int allocate(struct import *m, struct sort *sort, struct ml_error *err)
{
    uint32_t entry = new_block(m);

    if (!entry)
        return no_memory(m, err);
    m->blocks.items[entry - 1] =
        (struct block){.addr = ml_import_address(m->sink), .before = sort->last};
    sort->last = entry;
    put_event(m, ML_ALLOC, sort, m->blocks.items[entry - 1].addr);
    return 0;
}

/* A free without its allocation is left out. */
static void release_last(struct import *m, struct sort *sort)
{
    uint32_t entry = sort->last;

    if (!entry)
        return;
    put_event(m, ML_FREE, sort, m->blocks.items[entry - 1].addr);
    sort->last = m->blocks.items[entry - 1].before;
    m->blocks.items[entry - 1].before = m->free_block;
    m->free_block = entry;
}

static int add_event(struct import *m, struct ml_slice p, bool alloc, struct ml_error *err)
{
    uint64_t number;

    if (!take_hex(&p, &number) || number >= m->sorts.len)
        return bad(m, err);
    if (alloc)
        return allocate(m, &m->sorts.items[number], err);
    release_last(m, &m->sorts.items[number]);
    return 0;
}

/* Time never goes back. */
static int set_time(struct import *m, struct ml_slice p, struct ml_error *err)
{
    uint64_t ms;

    if (!take_hex(&p, &ms))
        return bad(m, err);
    if (ms < INT64_MAX / NS_PER_MS && ms * NS_PER_MS > m->time_ns)
        m->time_ns = ms * NS_PER_MS;
    return 0;
}

/* ---- The whole ---------------------------------------------------------------------- */

static void begin(struct import *m, struct ml_slice command)
{
    char name[1024];
    size_t len = command.len < sizeof(name) - 1 ? command.len : sizeof(name) - 1;

    if (m->began)
        return;
    memcpy(name, command.text, len);
    name[len] = '\0';
    m->began = true;
    if (len > 0)
        ml_dict_config(&m->sink->dict, "command", name);
    m->process = ml_import_process(m->sink, 0, name);
    m->thread = ml_import_thread(m->sink, m->process, 0, "");
    m->space = ml_import_space(m->sink, m->process, "cpu", MEMLEDGER_BLOCK, "malloc");
}

static int set_version(struct import *m, struct ml_slice p, struct ml_error *err)
{
    uint64_t heaptrack;

    m->version = 1;
    if (!take_hex(&p, &heaptrack) || (p.len > 0 && !take_hex(&p, &m->version)))
        return bad(m, err);
    if (m->version > FILE_VERSION_MAX)
        return ml_import_bad(m->source, err,
                             "version %llu of heaptrack's file, newer than %d, which this "
                             "memledger reads",
                             (unsigned long long)m->version, FILE_VERSION_MAX);
    return 0;
}

static int read_line(struct import *m, struct ml_slice line, struct ml_error *err)
{
    struct ml_slice rest = {line.text + 2, line.len > 2 ? line.len - 2 : 0};
    char kind = line.len > 0 ? line.text[0] : '#';

    if (kind == 'v')
        return set_version(m, rest, err);
    begin(m, kind == 'X' ? rest : (struct ml_slice){"", 0});
    switch (kind) {
    case 's': return add_string(m, rest, err);
    case 'i': return add_place(m, rest, err);
    case 't': return add_stack(m, rest, err);
    case 'a': return add_sort(m, rest, err);
    case '+': return add_event(m, rest, true, err);
    case '-': return add_event(m, rest, false, err);
    case 'c': return set_time(m, rest, err);
    case 'm':
        return ml_import_bad(m->source, err,
                             "a raw file of heaptrack; heaptrack --interpret makes one that can be "
                             "imported");
    default: return 0;
    }
}

static int read_lines(struct import *m, struct ml_error *err)
{
    struct ml_slice line;
    int n, r = ml_vec_push(&m->strings, 0) < 0 ? no_memory(m, err) : 0;

    while (r == 0 && (n = ml_import_line(m->source, &line.text, &line.len, err)) != 0) {
        r = n < 0 ? n : read_line(m, line, err);
        if (r == 0)
            r = ml_import_sink_check(m->sink, err);
    }
    return r;
}

static int run(struct ml_import_source *source, struct ml_import_sink *sink, struct ml_error *err)
{
    struct import m = {.source = source, .sink = sink};
    int r = read_lines(&m, err);

    ml_vec_release(&m.strings);
    ml_vec_release(&m.libraries);
    ml_vec_release(&m.places);
    ml_vec_release(&m.frames);
    ml_vec_release(&m.stacks);
    ml_vec_release(&m.sorts);
    ml_vec_release(&m.blocks);
    return r;
}

/* "v 10400 3", and the command in the next line. */
static int recognise(const uint8_t *head, size_t len)
{
    const uint8_t *end = len > 2 ? memchr(head, '\n', len) : NULL;
    struct ml_slice p = {(const char *)head + 2, end ? (size_t)(end - head) - 2 : 0};
    uint64_t number;

    if (!end || end - head < 3 || head[0] != 'v' || head[1] != ' ' || !take_hex(&p, &number))
        return 0;
    return (size_t)(end - head) + 2 < len && end[1] == 'X' && end[2] == ' ' ? 95 : 20;
}

const struct ml_import_format ml_import_heaptrack = {
    .name = "heaptrack",
    .help = "data file of heaptrack, .zst or .gz",
    .recognise = recognise,
    .run = run,
};
