/* heap_new.c: C++ new and delete, for allocators that define them.
 *
 * The C++ library's operator new calls malloc and is recorded there. jemalloc and tcmalloc define
 * operators that do not. These hooks wrap all of them, and one of three things happens:
 *
 * - the program's operator is the allocator's: the hook calls it and records;
 * - it is another (libstdc++'s, say): the hook calls it, and it will call malloc;
 * - the program has none, because a C program has privately loaded a C++ library (a Python
 *   extension, say): the hook hides that library's own operator, and calls malloc, as the C++
 *   library would.
 *
 * This is decided once, before the first of these calls returns: memory must be freed by the
 * allocator that it came from.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "heap_real.h"
#include "heap_seen.h"
#include "loaded_symbols.h"

/* There are twenty of them, with one to three arguments. These are passed in registers, so hooks
 * and calls here always have all three; each operator reads those that it has. */
typedef void *new_function(size_t bytes, uintptr_t second, uintptr_t third);
typedef void delete_function(void *p, uintptr_t second, uintptr_t third);

struct target {
    void *real;                    /* NULL: none */
    const struct link_map *object; /* that defines it */
    bool own;                      /* of the allocator, and does not call malloc or free by name */
};

static bool settled;

static ML_ALWAYS_INLINE void settle(void)
{
    /* Pairs with the release store in ml_new_settle. */
    if (ML_UNLIKELY(!__atomic_load_n(&settled, __ATOMIC_ACQUIRE)))
        ml_heap_ready();
}

/* ---- Hooks ----------------------------------------------------------------------- */

/* Calls malloc by name, so that a program that defines it gets its own. */
static void *plain_new(size_t align, size_t bytes)
{
    if (!align)
        return malloc(bytes ? bytes : 1);
    return aligned_alloc(align, (bytes + align - 1) & ~(align - 1));
}

/* The operator that the calling library would have found without us: it knows how to throw. */
static ML_NOINLINE new_function *operator_of(const void *caller, const char *symbol)
{
    Dl_info info;
    void *library, *function = NULL;

    if (!dladdr(caller, &info))
        return NULL;
    library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library) {
        function = dlsym(library, symbol);
        dlclose(library);
    }
    return (new_function *)function;
}

#define NEW(symbol, align)                                                                         \
    static struct target to_##symbol;                                                              \
    ML_HOOK new_function symbol;                                                                   \
    ML_HOOK void *symbol(size_t bytes, uintptr_t second, uintptr_t third)                          \
    {                                                                                              \
        new_function *real;                                                                        \
        void *p;                                                                                   \
                                                                                                   \
        settle();                                                                                  \
        real = (new_function *)to_##symbol.real;                                                   \
        if (ML_LIKELY(real && !to_##symbol.own))                                                   \
            return real(bytes, second, third);                                                     \
        if (real)                                                                                  \
            return ml_heap_seen(real(bytes, second, third), bytes);                                \
        p = plain_new(align, bytes);                                                               \
        if (ML_LIKELY(p != NULL))                                                                  \
            return p;                                                                              \
        real = operator_of(__builtin_return_address(0), #symbol);                                  \
        return real ? real(bytes, second, third) : NULL;                                           \
    }

#define DELETE(symbol)                                                                             \
    static struct target to_##symbol;                                                              \
    ML_HOOK delete_function symbol;                                                                \
    ML_HOOK void symbol(void *p, uintptr_t second, uintptr_t third)                                \
    {                                                                                              \
        delete_function *real;                                                                     \
                                                                                                   \
        settle();                                                                                  \
        real = (delete_function *)to_##symbol.real;                                                \
        if (!real)                                                                                 \
            free(p);                                                                               \
        else if (!to_##symbol.own || ml_heap_leaves(p))                                            \
            real(p, second, third);                                                                \
    }

/* The mangled names: w is new, l delete, a their array forms, m a size. */
NEW(_Znwm, 0)
NEW(_Znam, 0)
NEW(_ZnwmRKSt9nothrow_t, 0)
NEW(_ZnamRKSt9nothrow_t, 0)
NEW(_ZnwmSt11align_val_t, second)
NEW(_ZnamSt11align_val_t, second)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, second)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, second)
DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm)
DELETE(_ZdaPvm)
DELETE(_ZdlPvRKSt9nothrow_t)
DELETE(_ZdaPvRKSt9nothrow_t)
DELETE(_ZdlPvSt11align_val_t)
DELETE(_ZdaPvSt11align_val_t)
DELETE(_ZdlPvmSt11align_val_t)
DELETE(_ZdaPvmSt11align_val_t)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t)

struct entry {
    const char *name;
    struct target *to;
    unsigned pair; /* equal for operators that may be used on the same block */
};

/* The first of each pair number is used to try the others. */
/* clang-format off */
#define ENTRY(symbol, pair) {#symbol, &to_##symbol, pair}
/* clang-format on */

static const struct entry news[] = {
    ENTRY(_Znwm, 0),
    ENTRY(_Znam, 1),
    ENTRY(_ZnwmSt11align_val_t, 2),
    ENTRY(_ZnamSt11align_val_t, 3),
    ENTRY(_ZnwmRKSt9nothrow_t, 0),
    ENTRY(_ZnamRKSt9nothrow_t, 1),
    ENTRY(_ZnwmSt11align_val_tRKSt9nothrow_t, 2),
    ENTRY(_ZnamSt11align_val_tRKSt9nothrow_t, 3),
};

static const struct entry deletes[] = {
    ENTRY(_ZdlPv, 0),
    ENTRY(_ZdaPv, 1),
    ENTRY(_ZdlPvSt11align_val_t, 2),
    ENTRY(_ZdaPvSt11align_val_t, 3),
    ENTRY(_ZdlPvm, 0),
    ENTRY(_ZdaPvm, 1),
    ENTRY(_ZdlPvRKSt9nothrow_t, 0),
    ENTRY(_ZdaPvRKSt9nothrow_t, 1),
    ENTRY(_ZdlPvmSt11align_val_t, 2),
    ENTRY(_ZdaPvmSt11align_val_t, 3),
    ENTRY(_ZdlPvSt11align_val_tRKSt9nothrow_t, 2),
    ENTRY(_ZdaPvSt11align_val_tRKSt9nothrow_t, 3),
};

/* ---- Which operators record --------------------------------------------------- */

/* 64 is valid as a size and as an alignment, and std::nothrow is never read. */
static void *call_new(const struct entry *o)
{
    return ((new_function *)o->to->real)(64, 64, 64);
}

static void call_delete(const struct entry *o, void *p)
{
    ((delete_function *)o->to->real)(p, 64, 64);
}

/* An allocator's operator may still call malloc or free by name, as some of jemalloc's do, and is
 * then recorded there. To find out, this calls each one, and once more before that for an allocator
 * that uses malloc to initialise itself. */
static void try_pair(const struct entry *new_entry, const struct entry *delete_entry,
                     struct target *to)
{
    unsigned before;
    void *p;

    if (!new_entry->to->real || !delete_entry->to->real)
        return;
    call_delete(delete_entry, call_new(new_entry));
    before = ml_heap_came_in();
    p = call_new(new_entry);
    if (to == new_entry->to)
        to->own = ml_heap_came_in() == before;
    before = ml_heap_came_in();
    call_delete(delete_entry, p);
    if (to == delete_entry->to)
        to->own = ml_heap_came_in() == before;
}

static void look_up(const struct link_map *own, const struct entry *entry)
{
    entry->to->real = ml_symbol_after(own, entry->name, &entry->to->object);
}

void ml_new_look_up(const struct link_map *own)
{
    look_up(own, &news[0]);
    if (!news[0].to->real)
        return; /* no C++ library */
    for (size_t i = 1; i < ML_ARRAY_SIZE(news); i++)
        look_up(own, &news[i]);
    for (size_t i = 0; i < ML_ARRAY_SIZE(deletes); i++)
        look_up(own, &deletes[i]);
}

/* A sanitizer's operators do not call malloc, and abort the program when they are called before the
 * sanitizer is initialised. */
static bool is_sanitizer(const struct link_map *object)
{
    return object && ml_symbol_in(object->l_addr, object->l_ld, "__sanitizer_get_allocated_size");
}

static void take_untried(const struct entry *entries, size_t count, const struct link_map *object)
{
    for (size_t i = 0; i < count; i++)
        entries[i].to->own = entries[i].to->real && entries[i].to->object == object;
}

static void try_all(const struct link_map *allocator)
{
    for (size_t i = 0; i < ML_ARRAY_SIZE(news); i++) {
        if (news[i].to->real && news[i].to->object == allocator)
            try_pair(&news[i], &deletes[news[i].pair], news[i].to);
    }
    for (size_t i = 0; i < ML_ARRAY_SIZE(deletes); i++) {
        if (deletes[i].to->real && deletes[i].to->object == allocator)
            try_pair(&news[deletes[i].pair], &deletes[i], deletes[i].to);
    }
}

void ml_new_settle(const struct link_map *allocator)
{
    if (is_sanitizer(allocator)) {
        take_untried(news, ML_ARRAY_SIZE(news), allocator);
        take_untried(deletes, ML_ARRAY_SIZE(deletes), allocator);
    } else {
        try_all(allocator);
    }
    __atomic_store_n(&settled, true, __ATOMIC_RELEASE);
}
