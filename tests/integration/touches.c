/* touches.c: makes memory resident by writing to it, waits, and prints its peak resident size
 * by the kernel, in KiB.
 *
 *     touches MIB MS|wait [children]
 *
 * With "wait" it waits for the end of its input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void touch(size_t mib, const char *ms)
{
    char *memory = malloc(mib << 20);

    if (!memory)
        exit(1);
    memset(memory, 1, mib << 20);
    if (strcmp(ms, "wait") == 0)
        while (getchar() != EOF)
            continue;
    else
        usleep(1000 * (useconds_t)atoi(ms));
    free(memory);
}

int main(int argc, char **argv)
{
    size_t mib = strtoul(argc > 1 ? argv[1] : "1", NULL, 10);
    const char *ms = argc > 2 ? argv[2] : "0";
    int children = atoi(argc > 3 ? argv[3] : "0");
    struct rusage usage;

    for (int i = 0; i < children; i++)
        if (fork() == 0) {
            touch(mib, ms);
            _exit(0);
        }
    while (wait(NULL) > 0)
        continue;
    if (!children)
        touch(mib, ms);
    getrusage(RUSAGE_SELF, &usage);
    printf("%ld\n", usage.ru_maxrss);
    return 0;
}
