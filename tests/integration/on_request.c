/* on_request.c: allocates, frees and names blocks as it is told on standard input, one request to a
 * line, and prints "ok" after each.
 *
 *     malloc ID BYTES    free ID         fill ID BYTES (malloc, and writes to all of it)
 *     block ID BYTES     unblock ID      label ID NAME     (in a space of its own)
 *     push NAME          pop             step ID
 *     fork               (the child ends at once)
 *     stay ID BYTES      (a child allocates them and stays)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memledger/memledger.h"

#define IDS 1000
#define FIRST_ADDRESS 0x100000
#define ADDRESS_STEP 0x10000

static void *volatile heap[IDS];

static const void *address(unsigned id)
{
    return (const char *)NULL + FIRST_ADDRESS + (size_t)id * ADDRESS_STEP;
}

/* Returns when the child has allocated. */
static void start_child(unsigned id, size_t bytes)
{
    int ready[2];
    char none;

    if (pipe(ready))
        return;
    if (fork() == 0) {
        heap[id] = malloc(bytes);
        close(ready[0]);
        close(ready[1]);
        for (;;)
            pause();
    }
    close(ready[1]);
    if (read(ready[0], &none, 1) < 0)
        perror("on_request");
    close(ready[0]);
}

static void obey(memledger_space space, const char *what, unsigned id, const char *word)
{
    if (!strcmp(what, "malloc")) {
        heap[id] = malloc(strtoul(word, NULL, 10));
    } else if (!strcmp(what, "fill")) {
        heap[id] = malloc(strtoul(word, NULL, 10));
        if (heap[id])
            memset(heap[id], 1, strtoul(word, NULL, 10));
    } else if (!strcmp(what, "free")) {
        free(heap[id]);
    } else if (!strcmp(what, "block")) {
        memledger_alloc(space, address(id), strtoul(word, NULL, 10));
    } else if (!strcmp(what, "unblock")) {
        memledger_free(space, address(id));
    } else if (!strcmp(what, "label")) {
        memledger_label(space, address(id), word, MEMLEDGER_PARAMETER);
    } else if (!strcmp(what, "push")) {
        memledger_push(word);
    } else if (!strcmp(what, "pop")) {
        memledger_pop();
    } else if (!strcmp(what, "step")) {
        memledger_step(id);
    } else if (!strcmp(what, "fork")) {
        if (fork() == 0)
            _exit(0);
        wait(NULL);
    } else if (!strcmp(what, "stay")) {
        start_child(id, strtoul(word, NULL, 10));
    }
}

int main(void)
{
    static char in[4096], out[4096];
    char line[128], what[16], word[64];
    memledger_space space;
    unsigned id;

    setvbuf(stdin, in, _IOFBF, sizeof(in)); /* libc allocates none */
    setvbuf(stdout, out, _IOFBF, sizeof(out));
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "mine");
    while (fgets(line, sizeof(line), stdin)) {
        what[0] = word[0] = '\0';
        if (sscanf(line, "%15s %u %63s", what, &id, word) < 2 || id >= IDS)
            id = 0;
        obey(space, what, id, word);
        puts("ok");
        fflush(stdout);
    }
    return 0;
}
