/* leaks_in_c.c: blocks that a C program never frees, of every sort. Each sort has a function and a
 * size of its own, by which the test knows it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct node {
    struct node *volatile next;
    char rest[24];
};

/* Volatile: the compiler would leave out what is never read. */
static void *volatile global;
static _Thread_local void *volatile of_thread;
static struct node *volatile list;
static char *volatile inside;

__attribute__((noinline)) static void keep_in_global(void)
{
    global = malloc(1001);
}

__attribute__((noinline)) static void keep_in_thread(void)
{
    of_thread = malloc(1002);
}

/* A pointer into the middle of the block. */
__attribute__((noinline)) static void keep_inside(void)
{
    inside = (char *)malloc(1003) + 500;
}

__attribute__((noinline)) static void keep_list(void)
{
    for (int i = 0; i < 5; i++) {
        struct node *node = malloc(sizeof(*node) + 8);

        node->next = list;
        list = node;
    }
}

/* Where the memory of the recorder's variables ends; NULL: no recorder. */
static void *end_of_recorder(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long begin, end, recorder_end = 0;
    char line[4096];

    while (maps && fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%lx-%lx", &begin, &end) == 2 &&
            (strstr(line, "/libmemledger-heap") ||
             (begin == recorder_end && !strchr(line, '/') && !strchr(line, '['))))
            recorder_end = end;
    }
    if (maps)
        fclose(maps);
    return (void *)recorder_end;
}

/* In a page that the kernel joins with the recorder's variables. */
__attribute__((noinline)) static void keep_after_recorder(void)
{
    void **page =
        mmap(end_of_recorder(), 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page != MAP_FAILED)
        *(void *volatile *)page = malloc(1008);
}

/* Only the first is definitely lost. */
__attribute__((noinline)) static void lose_list(void)
{
    struct node *first = NULL;

    for (int i = 0; i < 4; i++) {
        struct node *node = malloc(sizeof(*node) + 16);

        node->next = first;
        first = node;
    }
}

__attribute__((noinline)) static void lose_circle(void)
{
    struct node *a = malloc(sizeof(*a) + 24), *b = malloc(sizeof(*b) + 24);

    a->next = b;
    b->next = a;
}

__attribute__((noinline)) static void lose_plain(void)
{
    for (int i = 0; i < 3; i++)
        memset(malloc(1004), 0, 1004);
}

/* A block that malloc maps by itself. */
__attribute__((noinline)) static void lose_large(void)
{
    memset(malloc(1 << 20), 0, 1 << 20);
}

/* Its only pointer is in a block that was freed: free() leaves all but the first words. */
__attribute__((noinline)) static void lose_in_freed(void)
{
    void *volatile *holder = malloc(208);

    holder[20] = malloc(1005);
    free((void *)holder);
}

/* Leaves its pointers on a stack that libc keeps for the next thread. */
static void *lose_in_thread(void *unused)
{
    void *volatile pointers[64];

    for (int i = 0; i < 64; i++)
        pointers[i] = NULL;
    pointers[9] = malloc(1006);
    memset(pointers[9], 0, 1006);
    return unused;
}

/* Calls overwrite the pointers that the functions above have left on the stack. */
__attribute__((noinline)) static void clear_stack(void)
{
    volatile char bytes[65536];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = 0;
}

static void leave(void)
{
    pthread_t thread;

    keep_in_global();
    keep_in_thread();
    keep_inside();
    keep_list();
    keep_after_recorder();
    lose_list();
    lose_circle();
    lose_plain();
    lose_large();
    lose_in_freed();
    if (pthread_create(&thread, NULL, lose_in_thread, NULL) == 0)
        pthread_join(thread, NULL);
    clear_stack();
}

/* A local variable of main is still there when main calls exit(). */
int main(void)
{
    void *volatile kept = malloc(1007);

    leave();
    memset(kept, 0, 1007);
    exit(global == NULL);
}
