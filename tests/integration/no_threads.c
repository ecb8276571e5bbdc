/* no_threads.c: preloaded, a system where the program that NO_THREADS_IN names can start no thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

__attribute__((visibility("default"))) create_fn pthread_create;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *arg)
{
    const char *where = getenv("NO_THREADS_IN");
    create_fn *real = (create_fn *)dlsym(RTLD_NEXT, "pthread_create");

    if (where && !strcmp(where, program_invocation_short_name))
        return EAGAIN;
    return real(thread, attributes, start, arg);
}
