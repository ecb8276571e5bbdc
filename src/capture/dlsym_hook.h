/* dlsym_hook.h: libc's dlsym, behind the one that programs find.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_DLSYM_HOOK_H
#define ML_DLSYM_HOOK_H

typedef void *ml_dlsym_function(void *handle, const char *name);

/* Looks it up once; usable before any constructor ran. */
ml_dlsym_function *ml_dlsym_real_function(void);

/* What a library finds by itself, in what it is linked with; NULL for code of the
 * program's own, which has nothing by itself. May change what dlerror() says.
 * @caller  an address in its code */
void *ml_dlsym_as_seen_from(const void *caller, const char *name);

/* The hook, by an address that no other library can take the place of. */
extern const char ml_dlsym_hook[];

#endif
