/* early_malloc.c: a library whose constructor makes the process's first malloc, in the place
 * that EARLY_MALLOC names, while libc holds a lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <link.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "early_malloc.h"

static void *block;

void *early_block(void)
{
    return block;
}

static void take(void)
{
    if (!block)
        block = malloc(EARLY_BYTES);
}

/* Libc allocates the locale while it holds the locales' lock. */
static void in_locale(void)
{
    locale_t locale = newlocale(LC_ALL_MASK, "POSIX", NULL);

    if (locale)
        freelocale(locale);
}

static int on_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)info;
    (void)size;
    (void)context;
    take();
    return 1;
}

/* The loader holds the lock of its list. */
static void in_callback(void)
{
    dl_iterate_phdr(on_object, NULL);
}

static void in_stdio(void)
{
    flockfile(stdout);
    flockfile(stderr);
    take();
    funlockfile(stderr);
    funlockfile(stdout);
}

static void *take_on_thread(void *context)
{
    void *other = malloc(EARLY_BYTES + 1);

    take();
    free(other);
    return context;
}

static int on_object_with_thread(struct dl_phdr_info *info, size_t size, void *context)
{
    pthread_t thread;

    (void)info;
    (void)size;
    (void)context;
    if (!pthread_create(&thread, NULL, take_on_thread, NULL))
        pthread_join(thread, NULL);
    return 1;
}

/* The first block of another thread, for which this one waits with the locks. */
static void in_thread(void)
{
    flockfile(stdout);
    dl_iterate_phdr(on_object_with_thread, NULL);
    funlockfile(stdout);
}

/* Older libcs hold the lock of the handlers' list. */
static void in_fork_handler(void)
{
    pid_t child;

    pthread_atfork(take, NULL, NULL);
    child = fork();
    if (!child)
        _exit(0);
    waitpid(child, NULL, 0);
}

/* The loader allocates its message, and must then find the message unharmed. */
static void in_failed_look_up(void)
{
    (void)dlsym(RTLD_DEFAULT, "early_malloc_has_no_such_symbol");
}

__attribute__((constructor)) static void first_of_all(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } places[] = {
        {"plain", take},
        {"locale", in_locale},
        {"callback", in_callback},
        {"stdio", in_stdio},
        {"thread", in_thread},
        {"fork_handler", in_fork_handler},
        {"failed_look_up", in_failed_look_up},
    };
    const char *wanted = getenv("EARLY_MALLOC");

    for (size_t i = 0; wanted && i < sizeof(places) / sizeof(*places); i++) {
        if (!strcmp(wanted, places[i].name))
            places[i].run();
    }
    take();
}
