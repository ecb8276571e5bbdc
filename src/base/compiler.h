/* compiler.h: the GNU extensions the project uses, behind one header.
 *
 * Everything gcc and clang offer beyond C17 is named here, so that the rest of
 * the code is plain C and a port to another compiler is an edit of one file.
 * Freestanding: usable inside the target.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_COMPILER_H
#define ML_BASE_COMPILER_H

#include <stddef.h>
#include <stdint.h>

/* Which way a branch usually goes. For hot paths with a measured effect only. */
#define ML_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define ML_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* The first that is not NULL; `value` is evaluated once. */
#define ML_OR(value, otherwise) ((value) ?: (otherwise))

#define ML_ALWAYS_INLINE inline __attribute__((always_inline))
#define ML_NOINLINE __attribute__((noinline))

/* A variable that is read for every event. They are stored together, because the program evicts
 * their cache lines between events and each line must be fetched again. */
#define ML_READ_ALWAYS __attribute__((section("ml_read_always")))

/* For code that runs after ThreadSanitizer has released its state of the thread. */
#define ML_NO_THREAD_SANITIZER __attribute__((no_sanitize_thread))

/* For code that runs before AddressSanitizer is ready, or reads memory that may be poisoned. */
#define ML_NO_ADDRESS_SANITIZER __attribute__((no_sanitize("address", "undefined")))

/* Check the arguments of a printf-like function: parameter number `fmt` is the
 * format, `first` the first argument (0 for a va_list). */
#define ML_PRINTF(fmt, first) __attribute__((__format__(__printf__, fmt, first)))

/* Elements of an array. Not for pointers; compilers warn about that use. */
#define ML_ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Host order to little-endian and back: the same operation. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ML_LE16(v) (v)
#define ML_LE32(v) (v)
#define ML_LE64(v) (v)
#else
#define ML_LE16(v) __builtin_bswap16(v)
#define ML_LE32(v) __builtin_bswap32(v)
#define ML_LE64(v) __builtin_bswap64(v)
#endif

/* 128-bit integers, for products of two 64-bit numbers. */
__extension__ typedef unsigned __int128 ml_u128;

static inline uint64_t ml_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t ml_max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* a + b, at most the largest number. */
static inline uint64_t ml_sum_u64(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* The address after the last byte. */
static inline uint64_t ml_end_of(uint64_t addr, uint64_t size)
{
    return ml_sum_u64(addr, size);
}

#endif
