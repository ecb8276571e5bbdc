/* dlsym_hook.c: wraps libc's dlsym. When a program looks up a function that the recorder hooks, the
 * function's provider decides what the program gets.
 *
 * Other names go on to libc's dlsym by a jump that leaves no trace: for RTLD_NEXT and RTLD_DEFAULT
 * that function looks at its return address, which is then still the caller's.
 *
 * This file also makes the library depend on the one that has dlsym, which is separate before glibc
 * 2.34; programs that use memledger.h rely on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dlsym_hook.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include "compiler.h"

#define HIDDEN __attribute__((visibility("hidden"), used))

HIDDEN ml_dlsym_function *ml_dlsym_real;
void (*ml_dlsym_before)(void);
HIDDEN bool ml_dlsym_is_hooked(void *handle, const char *name);
HIDDEN void *ml_dlsym_hooked(void *handle, const char *name, const void *caller);

static void *find_nothing(void *handle, const char *name)
{
    (void)handle;
    (void)name;
    return NULL;
}

/* The oldest version exists in every glibc for x86-64. Threads that come here at the same time find
 * the same function. */
HIDDEN ml_dlsym_function *ml_dlsym_real_function(void)
{
    ml_dlsym_function *real = __atomic_load_n(&ml_dlsym_real, __ATOMIC_RELAXED);

    if (ML_LIKELY(real != NULL))
        return real;
    real = (ml_dlsym_function *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (!real)
        real = find_nothing;
    __atomic_store_n(&ml_dlsym_real, real, __ATOMIC_RELAXED);
    return real;
}

__asm__(".pushsection .text\n"
        ".globl dlsym\n"
        ".type dlsym, @function\n"
        ".hidden ml_dlsym_hook\n"
        ".globl ml_dlsym_hook\n"
        ".p2align 4\n"
        "dlsym:\n"
        "ml_dlsym_hook:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    testq %rsi, %rsi\n"
        "    jz 1f\n"
        "    subq $24, %rsp\n"
        "    .cfi_adjust_cfa_offset 24\n"
        "    movq %rdi, (%rsp)\n"
        "    movq %rsi, 8(%rsp)\n"
        "    call ml_dlsym_is_hooked\n"
        "    movq (%rsp), %rdi\n"
        "    movq 8(%rsp), %rsi\n"
        "    addq $24, %rsp\n"
        "    .cfi_adjust_cfa_offset -24\n"
        "    testb %al, %al\n"
        "    jz 1f\n"
        "    movq (%rsp), %rdx\n"
        "    jmp ml_dlsym_hooked\n"
        "1:\n"
        "    movq ml_dlsym_real(%rip), %rax\n"
        "    testq %rax, %rax\n"
        "    jz 2f\n"
        "    jmp *%rax\n"
        "2:\n"
        "    subq $24, %rsp\n"
        "    .cfi_adjust_cfa_offset 24\n"
        "    movq %rdi, (%rsp)\n"
        "    movq %rsi, 8(%rsp)\n"
        "    call ml_dlsym_real_function\n"
        "    movq (%rsp), %rdi\n"
        "    movq 8(%rsp), %rsi\n"
        "    addq $24, %rsp\n"
        "    .cfi_adjust_cfa_offset -24\n"
        "    jmp *%rax\n"
        "    .cfi_endproc\n"
        ".size dlsym, .-dlsym\n"
        ".popsection\n");

/* The provider of that function, for a caller that asks with this handle; NULL: it has no hook. */
static ML_NO_ADDRESS_SANITIZER const struct ml_dlsym_provider *
provider_of(void *handle, const char *name, void **ret_hook)
{
    for (const struct ml_dlsym_provider *const *p = ml_dlsym_providers; *p; p++) {
        if (name[0] != (*p)->prefix[0] || name[1] != (*p)->prefix[1])
            continue;
        *ret_hook = (*p)->hook_of(handle, name);
        if (*ret_hook)
            return *p;
    }
    return NULL;
}

/* AddressSanitizer looks its own functions up before it is ready. */
ML_NO_ADDRESS_SANITIZER bool ml_dlsym_is_hooked(void *handle, const char *name)
{
    void (*before)(void) = __atomic_load_n(&ml_dlsym_before, __ATOMIC_RELAXED);
    void *hook;

    if (ML_UNLIKELY(before != NULL))
        before();
    return provider_of(handle, name, &hook) != NULL;
}

/* Only dlopen gives a library the list that dlsym searches: one that was loaded with the program,
 * or because another needs it, has none. */
void *ml_dlsym_as_seen_from(const void *caller, const char *name)
{
    struct link_map *map;
    Dl_info info;
    void *handle, *found;

    if (!dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map->l_name[0])
        return NULL;
    handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return NULL;
    found = ml_dlsym_real_function()(handle, name);
    dlclose(handle);
    return found;
}

/* The function that the hook wraps. A driver that came with the caller's library, and that no other
 * library can see, is found only there. If all fail, the last failure leaves its message for
 * dlerror(). */
static void *look_behind(void *handle, const char *name, const void *caller)
{
    void *found = ml_dlsym_real_function()(RTLD_NEXT, name);

    if (!found && handle == RTLD_DEFAULT) {
        found = ml_dlsym_as_seen_from(caller, name);
        if (!found)
            ml_dlsym_real_function()(RTLD_NEXT, name); /* for its message */
    }
    return found;
}

/* A look-up among all libraries finds the hook itself, because the recorder is preloaded. */
void *ml_dlsym_hooked(void *handle, const char *name, const void *caller)
{
    void *hook, *found;
    const struct ml_dlsym_provider *p = provider_of(handle, name, &hook);

    found = ml_dlsym_real_function()(handle, name);
    if (!p)
        return found; /* another thread has found the driver since the provider was first asked */
    if (found != hook)
        return p->hand_out(name, found, NULL);
    return p->hand_out(name, look_behind(handle, name, caller), hook);
}

void *ml_dlsym_hide(const char *name, void *found, void *hook)
{
    (void)name;
    return found && hook ? hook : found;
}
