/* early_main.c: a program whose first malloc was a library's. It frees that block, allocates
 * one itself, prints dlerror's text, and uses functions that take locks inside libc.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "early_malloc.h"

int main(void)
{
    const char *error = dlerror();
    void *own = malloc(MAIN_BYTES);

    setlocale(LC_ALL, "C");
    printf("%s, error: %s\n", early_block() && own ? "ok" : "no memory", error ? error : "none");
    free(early_block());
    free(own);
    return 3;
}
