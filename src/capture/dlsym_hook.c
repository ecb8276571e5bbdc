/* dlsym_hook.c: dlsym, in front of libc's: programs that look up a function of
 * the CUDA driver get its hook, and hooks are not found in front of nothing.
 *
 * Everything else goes on to libc's dlsym by a jump that leaves no trace: for
 * RTLD_NEXT and RTLD_DEFAULT that function looks at its return address, which is
 * then still the caller's.
 *
 * This file also makes the library need the one that has dlsym, a library of its
 * own before glibc 2.34; programs that use memledger.h count on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dlsym_hook.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include "compiler.h"
#include "cuda_resolve.h"
#include "mxnet_begin.h"
#include "mxnet_calls.h"
#include "mxnet_profiler.h"
#include "torch_real.h"

#define HIDDEN __attribute__((visibility("hidden"), used))

HIDDEN ml_dlsym_function *ml_dlsym_real;
HIDDEN bool ml_dlsym_is_hooked(void *handle, const char *name);
HIDDEN void *ml_dlsym_hooked(void *handle, const char *name, const void *caller);

static void *find_nothing(void *handle, const char *name)
{
    (void)handle;
    (void)name;
    return NULL;
}

/* The oldest version is there in every glibc for x86-64. Threads that come here
 * at the same time find the same. */
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

/* Names that begin neither with "cu", as the driver's do, nor with "_Z", as those
 * of C++, nor with "MX", as MXNet's, never leave these lines. */
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
        "    cmpb $0x63, (%rsi)\n" /* c */
        "    jne 3f\n"
        "    cmpb $0x75, 1(%rsi)\n" /* u */
        "    je 4f\n"
        "    jmp 1f\n"
        "3:\n"
        "    cmpb $0x5f, (%rsi)\n" /* _ */
        "    jne 5f\n"
        "    cmpb $0x5a, 1(%rsi)\n" /* Z */
        "    je 4f\n"
        "    jmp 1f\n"
        "5:\n"
        "    cmpb $0x4d, (%rsi)\n" /* M */
        "    jne 1f\n"
        "    cmpb $0x58, 1(%rsi)\n" /* X */
        "    jne 1f\n"
        "4:\n"
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

/* RTLD_NEXT is for those who stand in front of others themselves: they get what
 * comes after them, unless that is a hook in front of nothing. */
static bool is_cuda(void *handle, const char *name)
{
    if (ml_cuda_entry_of(name) == ML_CUDA_ENTRY_COUNT)
        return false;
    return handle != RTLD_NEXT || !ml_cuda_resolve();
}

/* Of a framework, by its C++ name; NULL: it has none. */
static void *framework_hook(const char *name)
{
    void *hook = ml_torch_hook_of(name);

    if (!hook)
        hook = ml_mxnet_hook_of(name);
    return hook ? hook : ml_mxnet_call_hook_of(name);
}

bool ml_dlsym_is_hooked(void *handle, const char *name)
{
    switch (name[0]) {
    case '_': return framework_hook(name) != NULL;
    case 'M': return handle != RTLD_NEXT && ml_mxnet_profiler_hook_of(name) != NULL;
    default: return is_cuda(handle, name);
    }
}

void *ml_dlsym_as_seen_from(const void *caller, const char *name)
{
    struct link_map *map;
    Dl_info info;

    if (!dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map->l_name[0])
        return NULL;
    return ml_dlsym_real_function()(map, name);
}

/* A lookup among all libraries finds the hooks themselves, since they stand in
 * front; what counts is what is there without them. A driver that came with the
 * caller's library, and is nobody else's, is found there alone. The last failure,
 * if all fail, leaves its words for dlerror(). */
static void *look_up(void *handle, const char *name, const void *caller, const void *hook)
{
    ml_dlsym_function *real = ml_dlsym_real_function();
    void *found = real(handle, name);

    if (found != hook)
        return found;
    found = real(RTLD_NEXT, name);
    if (!found && handle == RTLD_DEFAULT)
        found = ml_dlsym_as_seen_from(caller, name);
    return found;
}

/* A framework's libraries find the hooks by themselves; all there is to do is to hide
 * those where there is no such framework. */
static void *look_up_framework(void *handle, const char *name, const void *caller)
{
    void *hook = framework_hook(name);
    void *found = ml_dlsym_real_function()(handle, name);

    if (found != hook)
        return found;
    return look_up(handle, name, caller, hook) ? hook : NULL;
}

void *ml_dlsym_hooked(void *handle, const char *name, const void *caller)
{
    if (name[0] == '_')
        return look_up_framework(handle, name, caller);
    if (name[0] == 'M')
        return ml_mxnet_profiler_hand_out(
            name, look_up(handle, name, caller, ml_mxnet_profiler_hook_of(name)));
    ml_cuda_resolve();
    return ml_cuda_hand_out(look_up(handle, name, caller, ml_cuda_hooks[ml_cuda_entry_of(name)]));
}
