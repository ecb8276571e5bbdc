/* dlsym_hook.h: the hook on dlsym, and libc's dlsym that it wraps.
 *
 * Each room that hooks functions which programs look up by name has a provider; dlsym_providers.c
 * lists them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_DLSYM_HOOK_H
#define ML_DLSYM_HOOK_H

typedef void *ml_dlsym_function(void *handle, const char *name);

/* Looks it up once; usable before any constructor has run. */
ml_dlsym_function *ml_dlsym_real_function(void);

/* The symbol that a library finds in the libraries it is linked with; NULL if `caller` is in the
 * program itself, which has no such list. May change what dlerror() returns.
 * @caller  an address in its code */
void *ml_dlsym_as_seen_from(const void *caller, const char *name);

struct ml_dlsym_provider {
    /* The first two letters of every name that it hooks. */
    char prefix[2];

    /* The hook of that name for a caller that asks with this handle; NULL: none. Libraries that
     * wrap others themselves ask with RTLD_NEXT. Called before the look-up. */
    void *(*hook_of)(void *handle, const char *name);

    /* The function that the caller gets. `found` is the function without the hook, NULL if there is
     * none; `hook` is not NULL if the look-up found the hook. Must not change what dlerror()
     * returns. */
    void *(*hand_out)(const char *name, void *found, void *hook);
};

/* Ends with NULL. */
extern const struct ml_dlsym_provider *const ml_dlsym_providers[];

/* Called before each look-up, if not NULL: no library that was just loaded can be used without one,
 * except by its own initialisers. Read with __atomic_load_n. */
extern void (*ml_dlsym_before)(void);

/* A hand_out for functions whose callers find the hooks without dlsym. It only hides a hook that
 * wraps nothing because the program does not use that framework. */
void *ml_dlsym_hide(const char *name, void *found, void *hook);

/* The hook, by an address that no other library can replace. */
extern const char ml_dlsym_hook[];

#endif
