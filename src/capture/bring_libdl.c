/* bring_libdl.c: makes libmemledger.so need the library that has dlsym.
 *
 * The public header refers to dlsym weakly, so that programs need not link
 * libdl: where that is a library of its own (glibc before 2.34), the recorder
 * brings it along. Linkers leave out a library that is referred to weakly or
 * not at all, so here is one strong reference. This file must not include
 * memledger.h, whose #pragma would make it weak.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>

__attribute__((used, retain)) static void *(*const bring_libdl)(void *, const char *) = dlsym;
