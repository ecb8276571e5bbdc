/* target_symbols.h: addresses of libc's functions in another process.
 *
 * The process's list of mappings says which files it has loaded and where (mapped_file.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TARGET_SYMBOLS_H
#define ML_TARGET_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/* The functions that ml_inject calls. */
enum ml_target_function {
    ML_TARGET_DLOPEN,
    ML_TARGET_DLSYM,
    ML_TARGET_DLERROR,
    ML_TARGET_PTHREAD_CREATE,
    ML_TARGET_PTHREAD_SELF,
    ML_TARGET_PTHREAD_DETACH,
    ML_TARGET_ERRNO_LOCATION,
    ML_TARGET_SYSCALL, /* of which only the instruction is used */
    ML_TARGET_FUNCTIONS,
};

struct ml_target_symbols {
    uint64_t at[ML_TARGET_FUNCTIONS];
};

/* @return 0; -ENOEXEC: the program has no libc of the kind that is needed, as err explains */
int ml_target_symbols_find(pid_t pid, struct ml_target_symbols *ret, struct ml_error *err);

#endif
