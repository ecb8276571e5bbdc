/* got_slots.h: the words through which a loaded object reaches functions of others,
 * and how to exchange one while the program runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_GOT_SLOTS_H
#define ML_GOT_SLOTS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct ml_elf_object {
    uintptr_t base;
    uintptr_t begin, end; /* of all that is loaded */
    uintptr_t relro_begin, relro_end;
    const ElfW(Dyn) * dynamic;
    /* The page that was last written to; the words of a table come one after
     * another. */
    uintptr_t page;       /* 0: none */
    long page_protection; /* what it is outside of ml_elf_object_put */
};

void ml_elf_object_survey(const struct dl_phdr_info *info, struct ml_elf_object *ret);

/* Exchanges a word whole, so that a thread which is on its way sees the old or the
 * new one. What the loader closed is opened for the moment; what the program closed
 * is not ours to open. A word that the program has changed meanwhile is left alone.
 * @return what was there */
uintptr_t ml_elf_object_put(struct ml_elf_object *o, uintptr_t at, uintptr_t was, void *value);

/* One word of the global offset table. */
struct ml_slot {
    uintptr_t at;
    const char *symbol;
    bool is_own; /* the object itself defines the symbol, and calls it by name */
};

typedef void ml_slot_visitor(struct ml_elf_object *o, const struct ml_slot *slot, void *context);

/* Calls `visit` for each slot that leads to a named function or variable. */
void ml_elf_object_each_slot(struct ml_elf_object *o, ml_slot_visitor *visit, void *context);

/* Leads a slot to the hook if it leads to `real`, NULL for none, or back into its object:
 * there it is still to be resolved, or the object has the function itself. Looked at again where
 * the loader resolved it meanwhile. */
void ml_elf_object_redirect(struct ml_elf_object *o, const struct ml_slot *slot, const void *real,
                            void *hook);

#endif
