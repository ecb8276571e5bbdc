/* libraries.c: see libraries.h.
 *
 * The table is reserved at full size and only grows: an unloaded object keeps its entry, and gets
 * it again if it returns to the same place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "libraries.h"

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "address_room.h"
#include "build_id.h"
#include "code_object.h"
#include "names.h"
#include "record.h"
#include "recorder.h"
#include "sys.h"

/* An upper limit: in little address space the table has fewer. */
#define LIBRARIES_MAX (1u << 16)
#define LIBRARIES_LEAST (1u << 8)

struct library {
    uint64_t base;
    uint64_t end;
    uint32_t path;         /* string number, like the next */
    uint32_t build_id;     /* 0: it has none */
    _Atomic uint32_t seen; /* number of the last look that found it */
};

static struct library *libraries; /* by number; number 0 is not used */
static uint32_t libraries_max;
static _Atomic uint32_t count;
static _Atomic uint32_t looks;          /* number of looks that found a change */
static uint64_t known_adds, known_subs; /* the loader's counters at the last of them */
static uint32_t program_path;           /* string number, 0: not known yet */
static uint32_t most_left_out;          /* by one look; these were counted */

/* One walk over the loader's list. */
struct look {
    unsigned objects;  /* found so far */
    unsigned left_out; /* of them: there was no room */
    uint64_t adds, subs;
};

static bool reserve(void)
{
    if (!libraries)
        libraries =
            ml_address_table(LIBRARIES_MAX, LIBRARIES_LEAST, sizeof(*libraries), &libraries_max);
    return libraries;
}

static void announce(uint32_t number)
{
    const struct library *l = &libraries[number];
    uint64_t words[] = {ml_record_word(ML_REC_LIBRARY, 0, ml_now()), ml_pair(number, l->path),
                        l->base, l->end, ml_pair(0, l->build_id)};

    ml_record(words, 5);
}

/* ---- What an object says of itself -------------------------------------- */

static uint32_t path_of_program(void)
{
    char path[ML_NAME_MAX_BYTES + 1];
    long n;

    if (program_path)
        return program_path;
    n = ml_calls_allowed() ? syscall(SYS_readlink, "/proc/self/exe", path, sizeof(path) - 1) : 0;
    path[n > 0 ? n : 0] = '\0';
    program_path = ml_name_kept(path);
    return program_path;
}

/* The name by which it was opened; a relative name is completed with the current directory. */
static uint32_t path_of(const struct dl_phdr_info *info)
{
    char path[ML_NAME_MAX_BYTES + 1];
    const char *name = info->dlpi_name;
    long n = 0;

    if (name[0] != '/' && strchr(name, '/') && ml_calls_allowed())
        n = syscall(SYS_getcwd, path, sizeof(path)); /* with its NUL */
    if (n <= 1)
        return ml_name_kept(name);
    path[n - 1] = '/';
    path[n] = '\0'; /* cuts what does not fit */
    if ((size_t)n + strlen(name) < sizeof(path))
        memcpy(path + n, name, strlen(name) + 1);
    return ml_name_kept(path);
}

static uint64_t end_of(const struct dl_phdr_info *info)
{
    uint64_t end = 0;

    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_vaddr + p->p_memsz > end)
            end = p->p_vaddr + p->p_memsz;
    }
    return info->dlpi_addr + end;
}

static uint32_t build_id_of(const struct dl_phdr_info *info)
{
    char text[ML_BUILD_ID_TEXT_BYTES];

    return ml_build_id(info, text) ? ml_name_kept(text) : 0;
}

/* ---- The loader's list --------------------------------------------------- */

static uint32_t find(const struct library *wanted)
{
    for (uint32_t i = count; i; i--) {
        const struct library *l = &libraries[i];
        if (l->base == wanted->base && l->end == wanted->end && l->path == wanted->path &&
            l->build_id == wanted->build_id)
            return i;
    }
    return 0;
}

/* An object that was unloaded and returned is announced again: another was in its place meanwhile.
 */
static void enter_object(const struct library *object, struct look *look)
{
    uint32_t number = find(object);

    if (number) {
        bool was_away = libraries[number].seen < looks;
        libraries[number].seen = object->seen;
        if (was_away)
            announce(number);
        return;
    }
    number = count + 1;
    if (number == libraries_max) {
        look->left_out++; /* stacks in it have only addresses */
        return;
    }
    libraries[number] = *object;
    /* Pairs with the acquire load in ml_libraries_announce. */
    atomic_store_explicit(&count, number, memory_order_release);
    announce(number);
}

/* The first object is the program. */
static int on_object(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct look *look = arg;
    struct library object = {.base = info->dlpi_addr, .end = end_of(info), .seen = looks + 1};

    (void)bytes;
    if (looks && info->dlpi_adds == known_adds && info->dlpi_subs == known_subs)
        return 1;
    look->adds = info->dlpi_adds;
    look->subs = info->dlpi_subs;
    object.path = look->objects++ ? path_of(info) : path_of_program();
    object.build_id = build_id_of(info);
    if (object.end > object.base)
        enter_object(&object, look);
    return 0;
}

/* Each look meets the same ones again, but no object is counted twice. */
static void count_left_out(const struct look *look)
{
    for (; most_left_out < look->left_out; most_left_out++)
        ml_recorder_detail_lost();
}

uint32_t ml_libraries_look(void)
{
    struct look look = {0};

    if (!reserve())
        return 0;
    dl_iterate_phdr(on_object, &look);
    if (look.objects) {
        known_adds = look.adds;
        known_subs = look.subs;
        looks++;
        count_left_out(&look);
    }
    return looks;
}

static void enter_found(const struct dl_phdr_info *info, uint32_t path, struct look *look)
{
    struct library object = {
        .base = info->dlpi_addr,
        .end = end_of(info),
        .path = path,
        .build_id = build_id_of(info),
        .seen = looks,
    };

    if (object.end > object.base)
        enter_object(&object, look);
}

/* After an unload no entry counts until it is found again. The loader's counters are then those of
 * no look, so that the next look at all objects misses no change. The program has the first number.
 */
static void begin_look_at(uint32_t unloads, struct look *look)
{
    static uint32_t known_unloads;
    struct dl_phdr_info program;

    if (!looks || unloads != known_unloads) {
        known_unloads = unloads;
        known_adds = known_subs = UINT64_MAX;
        looks++;
    }
    if (!count && ml_code_object_program(&program))
        enter_found(&program, path_of_program(), look);
}

uint32_t ml_libraries_look_at(const uint64_t *frames, uint32_t n, uint32_t unloads)
{
    struct look look = {0};
    struct dl_phdr_info info;

    if (!reserve())
        return 0;
    begin_look_at(unloads, &look);
    for (uint32_t i = 0; i < n; i++) {
        if (frames[i] >> ML_STACK_ADDRESS_BITS)
            continue; /* no address */
        if (!ml_libraries_at(frames[i] - 1) && ml_code_object_info(frames[i] - 1, &info))
            enter_found(&info, *info.dlpi_name ? path_of(&info) : path_of_program(), &look);
    }
    count_left_out(&look);
    return looks;
}

/* Later entries first, so that the program, which may seem to begin at address 0, comes last. */
uint32_t ml_libraries_at(uintptr_t address)
{
    for (uint32_t i = count; i; i--) {
        const struct library *l = &libraries[i];
        if (l->seen >= looks && address >= l->base && address < l->end)
            return i;
    }
    return 0;
}

struct ml_address_range ml_libraries_range(uint32_t number)
{
    return (struct ml_address_range){libraries[number].base, libraries[number].end};
}

void ml_libraries_announce(void)
{
    uint32_t n = atomic_load_explicit(&count, memory_order_acquire);

    for (uint32_t i = 1; i <= n; i++) {
        if (libraries[i].seen >= looks)
            announce(i);
    }
}
