/* ledger_book.h: the entries of one device in a replay that stands at an instant.
 * Only the ledger includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEDGER_BOOK_H
#define ML_ANALYZE_LEDGER_BOOK_H

#include "ledger.h"

/* What recorded processes have on the device, by process if there are several.
 * @left         processes that are left out, since they have nothing any more
 * @top          entries in a list of scopes or owners
 * @book         empty; gets the entries, settled
 * @ret_stray    bytes of blocks that lie in nothing that the driver gave
 * @ret_managed  managed memory of these processes, wherever it lies
 * @return 0 or -ENOMEM */
int ml_ledger_book(const struct ml_replay *replay, const char *device, const uint32_t *left,
                   size_t left_count, size_t top, struct ml_ledger_entry *book,
                   struct ml_arena *arena, uint64_t *ret_stray, uint64_t *ret_managed);

#endif
