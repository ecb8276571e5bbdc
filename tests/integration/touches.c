/* touches.c: makes memory resident by writing to it, waits for the end of its input, and
 * prints its peak resident size by the kernel, in KiB.
 *
 *     touches MIB [children]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void touch(size_t mib)
{
    char *memory = malloc(mib << 20);

    if (!memory)
        exit(1);
    memset(memory, 1, mib << 20);
    while (getchar() != EOF)
        continue;
    free(memory);
}

int main(int argc, char **argv)
{
    size_t mib = strtoul(argc > 1 ? argv[1] : "1", NULL, 10);
    int children = atoi(argc > 2 ? argv[2] : "0");
    struct rusage usage;

    for (int i = 0; i < children; i++)
        if (fork() == 0) {
            touch(mib);
            _exit(0);
        }
    while (wait(NULL) > 0)
        continue;
    if (!children)
        touch(mib);
    getrusage(RUSAGE_SELF, &usage);
    printf("%ld\n", usage.ru_maxrss);
    return 0;
}
