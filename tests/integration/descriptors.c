/* descriptors.c: prints its open descriptors and what they are, records, closes everything it
 * does not know, opens its own files and continues to record; its files must stay unchanged.
 *
 *     descriptors
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memledger/memledger.h"

#define OWN 40

static memledger_space space;

/* One line to descriptor `out`: "when: 0=pipe 1=pipe ...", without numbers that
 * differ between runs. */
static void list(int out, const char *when)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;

    dprintf(out, "%s:", when);
    while (folder && (entry = readdir(folder))) {
        char path[300], target[256];
        ssize_t n;
        if (entry->d_name[0] == '.' || atoi(entry->d_name) == dirfd(folder))
            continue;
        snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
        n = readlink(path, target, sizeof(target) - 1);
        target[n > 0 ? n : 0] = '\0';
        target[strcspn(target, ":")] = '\0';
        dprintf(out, " %s=%s", entry->d_name, target);
    }
    dprintf(out, "\n");
    if (folder)
        closedir(folder);
}

static void *record(void *arg)
{
    for (uintptr_t i = 1; i <= 50000; i++)
        memledger_alloc(space, (void *)((uintptr_t)arg + i * 16), 16);
    return NULL;
}

static void record_in_threads(void)
{
    pthread_t ids[80]; /* more than one ring set has */

    for (uintptr_t i = 0; i < 80; i++)
        pthread_create(&ids[i], NULL, record, (void *)((i + 1) << 32));
    for (int i = 0; i < 80; i++)
        pthread_join(ids[i], NULL);
}

int main(void)
{
    int own[OWN];
    int out;
    pid_t child;

    list(STDOUT_FILENO, "start");
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "descriptors");
    record(NULL);
    list(STDOUT_FILENO, "recorded");
    out = fcntl(STDOUT_FILENO, F_DUPFD, 200);
    for (int fd = 0; fd < 1024; fd++) {
        if (fd != out)
            close(fd);
    }
    for (int i = 0; i < OWN; i++)
        own[i] = open("/dev/null", O_RDWR);
    list(out, "own");
    record_in_threads();
    child = fork();
    if (child == 0) {
        record(NULL);
        list(out, "child");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    list(out, "end");
    for (int i = 0; i < OWN; i++) {
        if (own[i] != i || write(own[i], "x", 1) != 1)
            return 2;
    }
    return 0;
}
