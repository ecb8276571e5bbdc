/* got_slots.h: the words through which a loaded object reaches functions of other objects, and how
 * to replace one while the program runs.
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
    uintptr_t begin, end; /* of all loaded segments */
    uintptr_t relro_begin, relro_end;
    const ElfW(Dyn) * dynamic;
    /* The page that was last written to; the words of a table are adjacent. */
    uintptr_t page;       /* 0: none */
    long page_protection; /* its protection outside of ml_elf_object_put */
};

void ml_elf_object_survey(const struct dl_phdr_info *info, struct ml_elf_object *ret);

/* Replaces a word atomically, so that a running thread sees the old value or the new one. A page
 * that the loader made read-only is made writable meanwhile; one that the program made read-only is
 * left alone, and so is a word that the program has changed meanwhile.
 * @return the word's value before the call */
uintptr_t ml_elf_object_put(struct ml_elf_object *o, uintptr_t at, uintptr_t was, void *value);

/* One word of the global offset table. */
struct ml_slot {
    uintptr_t at;
    const char *symbol;
    bool is_own; /* the object itself defines the symbol, and calls it by name */
};

typedef void ml_slot_visitor(struct ml_elf_object *o, const struct ml_slot *slot, void *context);

/* Calls `visit` for each slot that points to a named function or variable. */
void ml_elf_object_each_slot(struct ml_elf_object *o, ml_slot_visitor *visit, void *context);

/* Points a slot at the hook if it points to `real` (NULL: none) or back into its own object: then
 * it is still to be resolved, or the object defines the function itself. Checks again if the loader
 * has resolved the slot meanwhile. */
void ml_elf_object_redirect(struct ml_elf_object *o, const struct ml_slot *slot, const void *real,
                            void *hook);

#endif
