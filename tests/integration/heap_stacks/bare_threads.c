/* bare_threads.c: threads without a guard page below their stack. Each calls a function on memory
 * right below it, as programs do whose stack grows on demand (-fsplit-stack, Rust's stacker), takes
 * that memory away, and allocates in the same functions again, while the others do the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline, noipa))
#define THREADS 4
#define ROUNDS 200
#define STACK_BYTES (256u << 10)
#define BELOW_BYTES (64u << 10)

/* call_on(function, end): calls it on the memory that ends there. */
__asm__("call_on:\n"
        "    .cfi_startproc\n"
        "    push %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbp, -16\n"
        "    mov %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    mov %rsi, %rsp\n"
        "    call *%rdi\n"
        "    mov %rbp, %rsp\n"
        "    pop %rbp\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n");
void call_on(void (*function)(void), void *end);

static void *volatile kept;

static NOINLINE void innermost(size_t bytes)
{
    free(kept = malloc(bytes));
    __asm__ volatile("");
}

static NOINLINE void middle(size_t bytes)
{
    innermost(bytes);
    __asm__ volatile("");
}

static NOINLINE void outer(size_t bytes)
{
    middle(bytes);
    __asm__ volatile("");
}

static void on_memory_below(void)
{
    outer(1001);
    outer(1002);
    __asm__ volatile("");
}

/* A mapping without access holds the place, so that no other one comes there. */
static void map(char *memory, int protection)
{
    if (mmap(memory, BELOW_BYTES, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
        MAP_FAILED)
        abort();
}

/* The second call has the same callers, and the memory of the first is gone. */
static NOINLINE void run_below(char *lowest)
{
    char inside[BELOW_BYTES] __attribute__((aligned(16)));
    char *const ends[] = {lowest, inside + sizeof(inside)};

    map(lowest - BELOW_BYTES, PROT_READ | PROT_WRITE);
    for (int i = 0; i < 2; i++) {
        call_on(on_memory_below, ends[i]);
        map(lowest - BELOW_BYTES, PROT_NONE);
    }
}

static void *thread_main(void *lowest)
{
    for (int i = 0; i < ROUNDS; i++) {
        run_below(lowest);
        outer(2001);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        char *memory = mmap(NULL, BELOW_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        pthread_attr_t attributes;

        if (memory == MAP_FAILED)
            return 1;
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, memory + BELOW_BYTES, STACK_BYTES);
        if (pthread_create(&threads[i], &attributes, thread_main, memory + BELOW_BYTES))
            return 1;
        pthread_attr_destroy(&attributes);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
