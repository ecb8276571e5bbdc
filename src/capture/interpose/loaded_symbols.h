/* loaded_symbols.h: finds symbols of loaded objects in their own tables.
 *
 * dlsym does not work where a program's first malloc may come from. It takes the loader's lock, and
 * when it fails it formats a message, for which gettext takes the lock of libc's locales: a library
 * that calls malloc from inside newlocale holds that lock already. A call of dlsym also discards
 * the error that the program has not yet read by dlerror.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_LOADED_SYMBOLS_H
#define ML_LOADED_SYMBOLS_H

#include <link.h>

/* The address of a symbol that this object defines, in its default version; NULL: it defines none.
 * An indirect function is resolved. Takes no lock; any thread may call it while the object stays
 * loaded. */
void *ml_symbol_in(ElfW(Addr) base, const ElfW(Dyn) * dynamic, const char *name);

/* The object that this code was linked into; NULL: the loader does not list it. */
const struct link_map *ml_symbols_own_object(void);

/* The symbol in the first object that defines it, in the order in which the loader searches the
 * objects that were loaded with the program. Begins after `after`, or with the program for NULL.
 * ret_object may be NULL. Takes no lock. Precondition: no other thread can load or unload
 * libraries, which holds until the program's first malloc returns, and in constructors that run
 * before the program. */
void *ml_symbol_after(const struct link_map *after, const char *name,
                      const struct link_map **ret_object);

/* The symbol in the first of all loaded objects that defines it, at any time. Takes the lock under
 * which the loader changes its list, not the one that it holds while constructors run. */
void *ml_symbol_anywhere(const char *name);

#endif
