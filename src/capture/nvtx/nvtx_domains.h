/* nvtx_domains.h: the domains of NVTX, and their categories.
 *
 * A domain has a number here: 0 is the default one, and its handle is that number as a pointer. Two
 * domains of one name are the same, because each library of a program asks for its own. Nothing is
 * ever released: domains are few, and a destroyed handle may be used again.
 *
 * All functions are async-signal-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NVTX_DOMAINS_H
#define ML_NVTX_DOMAINS_H

#include <stdint.h>

#include "nvtx_abi.h"

/* Further domains count as the default one, except for their handle. */
#define ML_NVTX_DOMAINS 256

/* The handle of the domain with that name (a string's number), never NULL. */
ml_nvtx_domain ml_nvtx_domain_create(uint32_t name);

/* The domain's number; 0 for a handle that was never created. */
uint32_t ml_nvtx_domain_number(ml_nvtx_domain handle);

/* The name's number; 0 for the default domain. */
uint32_t ml_nvtx_domain_name(uint32_t domain);

/* The number of the domain object (objects.h) that its tasks and markers belong to, created at the
 * first call; 0 when there is no room. */
uint32_t ml_nvtx_domain_object(uint32_t domain);

/* Names a category of a domain; a later name replaces an earlier one. */
void ml_nvtx_category_set(uint32_t domain, uint32_t category, uint32_t name);

/* The name's number; 0 for a category without one. */
uint32_t ml_nvtx_category(uint32_t domain, uint32_t category);

#endif
