/* got_patch.c: puts the hooks in place in a program that found the driver's functions before the
 * recorder was loaded. This is so when the driver itself loads it, which it does with the library
 * that CUDA_INJECTION64_PATH names while it starts, and when `memledger attach` does.
 *
 * There are three ways from a loaded object to the driver, all of them through writable words:
 * - slots of its global offset table, resolved or still to be resolved;
 * - pointers in its data, such as the CUDA runtime's table of all functions that it found;
 * - its own calls of dlsym, by which it will find them later.
 *
 * Words are replaced atomically, so that a running thread sees the old one or the new one. Later
 * look-ups ask cuGetProcAddress, which has a hook; objects that are loaded later are patched when
 * the next context or module is created, and after an attach also at the next call of dlsym.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "compiler.h"
#include "cuda_resolve.h"
#include "dlsym_hook.h"
#include "got_slots.h"
#include "loaded.h"
#include "lock.h"
#include "own_memory.h"
#include "page_protection.h"

__attribute__((visibility("default"))) int InitializeInjection(void);

#define OBJECTS_MAX 4096

struct range {
    uintptr_t begin, end;
};

static bool active;
static struct ml_lock patch_lock;
static struct ml_cuda_span driver; /* empty: not loaded yet */

/* The state of the last walk. */
static unsigned long long adds, subs;
static uintptr_t done[OBJECTS_MAX]; /* their addresses, unsorted */
static unsigned done_count;

/* ---- Slots ------------------------------------------------------------------ */

static void *hook_for(const char *name)
{
    enum ml_cuda_entry entry;

    if (!strcmp(name, "dlsym"))
        return (void *)(uintptr_t)ml_dlsym_hook;
    if (strncmp(name, "cu", 2))
        return NULL;
    entry = ml_cuda_entry_of(name);
    /* Not one that the driver lacks: the program must find that out. */
    if (entry == ML_CUDA_ENTRY_COUNT || !ml_cuda_real[entry])
        return NULL;
    return ml_cuda_hooks[entry];
}

/* Whether the slot leads to the real function, or would once resolved, and not to that of another
 * tool. A slot to be resolved points back into its object. */
static bool leads_to_real(const struct ml_elf_object *o, uintptr_t to, const void *hook)
{
    if (!to)
        return false;
    if (to >= o->begin && to < o->end)
        return true;
    if (hook == ml_dlsym_hook)
        return to == (uintptr_t)ml_dlsym_real_function();
    return ml_cuda_hand_out((void *)to) == hook;
}

/* Checks again if the loader has resolved it meanwhile. */
static void patch_slot(struct ml_elf_object *o, uintptr_t at, void *hook)
{
    uintptr_t to = __atomic_load_n((uintptr_t *)at, __ATOMIC_RELAXED);

    while (leads_to_real(o, to, hook)) {
        uintptr_t was = ml_elf_object_put(o, at, to, hook);
        if (was == to)
            return;
        to = was;
    }
}

static void patch_if_hooked(struct ml_elf_object *o, const struct ml_slot *slot, void *context)
{
    void *hook = slot->is_own ? NULL : hook_for(slot->symbol);

    (void)context;
    if (hook)
        patch_slot(o, slot->at, hook);
}

/* ---- Data -------------------------------------------------------------------- */

/* Called for each word that may be a function of the driver. */
static void patch_word(struct ml_elf_object *o, uintptr_t at, uintptr_t word)
{
    void *hook = ml_cuda_hand_out((void *)word);

    if (hook != (void *)word)
        ml_elf_object_put(o, at, word, hook);
}

/* A program may have made a part of its own data unreadable. */
static void patch_data(struct ml_elf_object *o, struct range data)
{
    static uintptr_t copy[2048];

    data.begin = (data.begin + 7) & ~(uintptr_t)7;
    while (data.begin + sizeof(uintptr_t) <= data.end) {
        size_t wanted = ml_min_u64(sizeof(copy), data.end - data.begin) & ~(size_t)7;
        long read = ml_own_memory_read(data.begin, copy, wanted);
        size_t got = read < 0 ? wanted : (size_t)read & ~(size_t)7;

        if (read < 0) /* the loader has mapped it readable */
            memcpy(copy, (const void *)data.begin, wanted);
        for (size_t i = 0; i < got / sizeof(*copy); i++) {
            if (ML_UNLIKELY(copy[i] - driver.begin < driver.end - driver.begin))
                patch_word(o, data.begin + i * sizeof(*copy), copy[i]);
        }
        /* Skips the page that cannot be read. */
        if (got < wanted)
            got = ((data.begin + got + ML_PAGE_BYTES) & ~(ML_PAGE_BYTES - 1)) - data.begin;
        data.begin += got;
    }
}

/* ---- Objects ------------------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* The driver's own pointers must keep leading to itself, and ours to it. */
static bool is_left_alone(const struct ml_elf_object *o, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    uintptr_t own = (uintptr_t)ml_dlsym_hook;

    return begins(name, "libcuda.so") || begins(name, "libcudadebugger.so") ||
           begins(name, "libnvidia-") || begins(name, "linux-vdso") ||
           (own >= o->begin && own < o->end);
}

static bool is_done(const struct ml_elf_object *o)
{
    for (unsigned i = 0; i < done_count; i++) {
        if (done[i] == o->begin)
            return true;
    }
    if (done_count < OBJECTS_MAX)
        done[done_count++] = o->begin;
    return false;
}

static void patch_object(const struct dl_phdr_info *info)
{
    struct ml_elf_object o;

    ml_elf_object_survey(info, &o);
    if (is_left_alone(&o, info->dlpi_name ? info->dlpi_name : "") || is_done(&o))
        return;
    ml_elf_object_each_slot(&o, patch_if_hooked, NULL);
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = o.base + part->p_vaddr;
        if (driver.end && part->p_type == PT_LOAD && part->p_flags & PF_W)
            patch_data(&o, (struct range){begin, begin + part->p_memsz});
    }
}

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
    bool *first = context;

    (void)size;
    if (*first) {
        *first = false;
        if (info->dlpi_adds == adds && info->dlpi_subs == subs)
            return 1;
        /* Another object may be in the same place. */
        if (info->dlpi_subs != subs)
            done_count = 0;
        adds = info->dlpi_adds;
        subs = info->dlpi_subs;
    }
    patch_object(info);
    return 0;
}

static int is_as_before(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    *(bool *)context = info->dlpi_adds == adds && info->dlpi_subs == subs;
    return 1;
}

/* Without our lock and outside of the walk, because a look-up takes another lock of the loader's.
 * Threads that come here at the same time find the same. */
static void learn_driver(void)
{
    char path[PATH_MAX];

    if (!driver.end && ml_loaded_path("libcuda.so", path) && ml_cuda_resolve())
        driver = ml_cuda_real_span();
}

void ml_got_patch_again(void)
{
    int saved_errno = errno;
    bool first = true, same = false;

    if (!__atomic_load_n(&active, __ATOMIC_ACQUIRE))
        return;
    dl_iterate_phdr(is_as_before, &same);
    if (!same)
        learn_driver();
    if (!same && ml_lock_or_give_up(&patch_lock)) {
        dl_iterate_phdr(visit, &first);
        ml_unlock(&patch_lock);
    }
    errno = saved_errno;
}

/* Points everything loaded so far at the hooks. */
static void begin_patching(void)
{
    __atomic_store_n(&active, true, __ATOMIC_RELEASE);
    ml_got_patch_again();
}

/* ---- The entry point --------------------------------------------------------- */

/* If the library is preloaded, the program finds the hooks without help. */
static bool is_preloaded(void)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    void *found = program ? ml_dlsym_real_function()(program, "dlsym") : NULL;

    if (program)
        dlclose(program);
    return found == (const void *)ml_dlsym_hook;
}

/* A program may have looked functions up since an earlier recording, and so have got the driver's:
 * everything is checked again. */
void ml_got_patch_begin(void)
{
    if (is_preloaded() || !ml_lock_or_give_up(&patch_lock))
        return;
    done_count = 0;
    adds = subs = 0;
    ml_unlock(&patch_lock);
    begin_patching();
    __atomic_store_n(&ml_dlsym_before, ml_got_patch_again, __ATOMIC_RELAXED);
}

void ml_got_patch_end(void)
{
    __atomic_store_n(&ml_dlsym_before, NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&active, false, __ATOMIC_RELEASE);
}

/* Called by the driver inside cuInit. @return 1: the driver continues */
int InitializeInjection(void)
{
    if (!is_preloaded() && ml_cuda_resolve() && ml_cuda_armed) {
        driver = ml_cuda_real_span();
        begin_patching();
    }
    return 1;
}
