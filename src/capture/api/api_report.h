/* api_report.h: the reporting part of the public API, for the table in api.c. memledger.h has the
 * contracts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_API_REPORT_H
#define ML_API_REPORT_H

#include "memledger/memledger.h"

memledger_space ml_api_space_open(const char *device, int level, const char *name);
void ml_api_alloc(memledger_space space, const void *ptr, size_t bytes);
void ml_api_alloc_ex(memledger_space space, const struct memledger_alloc_info *info);
void ml_api_free(memledger_space space, const void *ptr);
void ml_api_free_range(memledger_space space, const void *ptr, size_t bytes);
void ml_api_resize(memledger_space space, const void *old_ptr, const void *new_ptr, size_t bytes);
void ml_api_label(memledger_space space, const void *ptr, const char *name, int category);
void ml_api_push(int kind, const char *name);
void ml_api_pop(void);
void ml_api_mark(int kind, uint64_t number, const char *name);

#endif
