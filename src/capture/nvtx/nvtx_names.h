/* nvtx_names.h: the name of an NVTX event in the trace.
 *
 * "domain/message [category]": the domain unless it is the default one, the category if it has a
 * name. An event without a message is a "range". Wide characters become UTF-8. The suffix that
 * PyTorch's emit_nvtx adds to an operator's name (", seq = 7, op_id = 12, sizes = …") differs
 * between calls and is removed, so that all calls of an operator are one scope.
 *
 * A registered string's handle contains the numbers of its names: a push with it looks nothing up.
 * Names are numbers of names.h. All functions are async-signal-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NVTX_NAMES_H
#define ML_NVTX_NAMES_H

#include <stdint.h>

#include "nvtx_abi.h"

struct ml_nvtx_attributes ml_nvtx_ascii(const char *message);
struct ml_nvtx_attributes ml_nvtx_wide(const wchar_t *message);

/* The whole name, for scopes; `attributes` may be NULL. */
uint32_t ml_nvtx_scope_name(uint32_t domain, const struct ml_nvtx_attributes *attributes);

/* The same without the domain, for objects that belong to a domain object. */
uint32_t ml_nvtx_bare_name(uint32_t domain, const struct ml_nvtx_attributes *attributes);

/* The message alone, for names of domains and categories; 0 without one. */
uint32_t ml_nvtx_message(const struct ml_nvtx_attributes *attributes);

ml_nvtx_string ml_nvtx_register(uint32_t domain, const struct ml_nvtx_attributes *attributes);

#endif
