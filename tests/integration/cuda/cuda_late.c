/* cuda_late.c: libraries that find the driver at different times. Prints whose function each of
 * them has at the end; for the recorder injected by the driver.
 *
 * usage: cuda_late PLUGIN COPY_OF_PLUGIN
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_work.h"

struct plugin {
    void (*fill)(void *);
    void *(*table)(void);
};

static struct plugin load(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    struct plugin p = {NULL, NULL};

    if (handle) {
        *(void **)&p.fill = dlsym(handle, "fill_table");
        *(void **)&p.table = dlsym(handle, "table_of_plugin");
    }
    return p;
}

int main(int argc, char **argv)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*init)(unsigned) = NULL;
    int (*retain)(void **, int) = NULL;
    struct plugin early, late;
    void *context;

    if (!driver || argc != 3)
        return 2;
    *(void **)&init = dlsym(driver, "cuInit");
    early = load(argv[1]);
    printf("init %d\n", init(0));
    early.fill(driver);
    fprintf(stderr, "early %s\n", owner(early.table()));
    late = load(argv[2]);
    late.fill(driver);
    /* Looked up when this program's dlsym leads to the recorder. */
    *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
    printf("retain %d\n", retain(&context, 0));
    fprintf(stderr, "late %s\n", owner(late.table()));
    return 0;
}
