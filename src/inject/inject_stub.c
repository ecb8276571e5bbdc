/* inject_stub.c: see inject_stub.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inject_stub.h"

#include <assert.h>

__asm__(".pushsection .rodata\n"
        ".irp name, ml_inject_stub, ml_inject_stub_end, ml_inject_back, ml_inject_entry\n"
        ".hidden \\name\n.globl \\name\n"
        ".endr\n"
        "ml_inject_stub:\n"
        "    movq %rdi, %rbx\n"
        "    call *48(%rbx)\n" /* __errno_location */
        "    movq %rax, %r12\n"
        "    movl (%rax), %r13d\n"
        "    leaq 360(%rbx), %rdi\n"
        "    xorl %esi, %esi\n"
        "    leaq ml_inject_entry(%rip), %rdx\n"
        "    movq %rbx, %rcx\n"
        "    call *24(%rbx)\n" /* pthread_create */
        "    movl %eax, 368(%rbx)\n"
        "    movl %r13d, (%r12)\n"
        "    movq 352(%rbx), %rsp\n"
        "5:\n"
        "    movl $15, %eax\n" /* rt_sigreturn */
        "    syscall\n"
        "ml_inject_back:\n"
        "    jmp 5b\n"
        "    .balign 16\n"
        "ml_inject_entry:\n"
        "    endbr64\n"
        "    pushq %rbx\n"
        "    movq %rdi, %rbx\n"
        "    call *32(%rbx)\n" /* pthread_self */
        "    movq %rax, %rdi\n"
        "    call *40(%rbx)\n" /* pthread_detach */
        "    cmpl $0, 92(%rbx)\n"
        "    jne 2f\n" /* called off */
        "    movq 64(%rbx), %rdi\n"
        "    movl $2, %esi\n" /* RTLD_NOW */
        "    call *0(%rbx)\n" /* dlopen */
        "    movl $2, %edx\n"
        "    testq %rax, %rax\n"
        "    jz 1f\n"
        "    movq %rax, %rdi\n"
        "    movq 72(%rbx), %rsi\n"
        "    call *8(%rbx)\n" /* dlsym */
        "    movl $3, %edx\n"
        "    testq %rax, %rax\n"
        "    jz 1f\n"
        "    movq 80(%rbx), %rdi\n"
        "    call *%rax\n"
        "    movl %eax, 88(%rbx)\n"
        "    movl $1, 92(%rbx)\n"
        "    jmp 2f\n"
        "1:\n"
        "    movl %edx, 88(%rbx)\n"
        "    call *16(%rbx)\n" /* dlerror, whose text ends with the thread */
        "    testq %rax, %rax\n"
        "    jz 4f\n"
        "    movq %rax, %rsi\n"
        "    leaq 96(%rbx), %rdi\n"
        "    movl $255, %ecx\n"
        "3:\n"
        "    lodsb\n"
        "    stosb\n"
        "    testb %al, %al\n"
        "    loopne 3b\n"
        "    movb $0, (%rdi)\n"
        "4:\n"
        "    movl 88(%rbx), %edx\n"
        "    movl %edx, 92(%rbx)\n"
        "2:\n"
        "    popq %rbx\n"
        "    xorl %eax, %eax\n"
        "    ret\n"
        "ml_inject_stub_end:\n"
        ".popsection\n");
static_assert(ML_INJECT_JOB_AT(functions) + 8 * ML_TARGET_DLERROR == 16, "as in the stub");
static_assert(ML_INJECT_JOB_AT(functions) + 8 * ML_TARGET_PTHREAD_SELF == 32, "as in the stub");
static_assert(ML_INJECT_JOB_AT(functions) + 8 * ML_TARGET_PTHREAD_DETACH == 40, "as in the stub");
static_assert(ML_INJECT_JOB_AT(library) == 64 && ML_INJECT_JOB_AT(function) == 72 &&
                  ML_INJECT_JOB_AT(argument) == 80 && ML_INJECT_JOB_AT(value) == 88 &&
                  ML_INJECT_JOB_AT(done) == 92 && ML_INJECT_JOB_AT(error) == 96,
              "as in the stub");
static_assert(sizeof(((struct ml_inject_job *)0)->error) > 255, "as in the stub");
static_assert(ML_INJECT_JOB_AT(functions) + 8 * ML_TARGET_PTHREAD_CREATE == 24, "as in the stub");
static_assert(ML_INJECT_JOB_AT(functions) + 8 * ML_TARGET_ERRNO_LOCATION == 48, "as in the stub");
static_assert(ML_INJECT_JOB_AT(way_back) == 352 && ML_INJECT_JOB_AT(thread) == 360 &&
                  ML_INJECT_JOB_AT(created) == 368,
              "as in the stub");
