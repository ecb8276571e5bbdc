/* cuda_library.h: finds NVIDIA's libraries where people have them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_CUDA_LIBRARY_H
#define VGG19_CUDA_LIBRARY_H

#include <stddef.h>

/* The places, in words, for messages. */
#define CUDA_LIBRARY_PLACES                                                                        \
    "--cuda-libs, the loader's path, $CUDA_HOME/lib64, /usr/local/cuda, the nvidia wheels of "     \
    "$VIRTUAL_ENV, ~/.local and PATH"

/* Opens the first of `names` (ends with NULL) that is somewhere: in `folder`
 * alone if it is given, else by name, under $CUDA_HOME and /usr/local/cuda, and
 * in the nvidia wheels of $VIRTUAL_ENV, of ~/.local and of the folders beside
 * those of PATH. Returns NULL where there is none and says nothing. The library
 * stays open. */
void *cuda_library_open(const char *const *names, const char *folder);

/* An entry point and where its address goes. */
struct cuda_symbol {
    const char *name;
    void **address;
};

/* Finds all of them. Returns 0, or -ENODEV after naming the one that is missing
 * in the library called `name`. */
int cuda_library_symbols(void *library, const char *name, const struct cuda_symbol *symbols,
                         size_t count);

#endif
