/* torch_nccl.c: see torch_nccl.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_nccl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cuda_labels.h"
#include "event.h"
#include "lock.h"
#include "names.h"
#include "torch_nccl_groups.h"
#include "torch_slots.h"

typedef uintptr_t word;

/* ncclUniqueId, which is passed by value. */
struct unique_id {
    char bytes[128];
};

/* ncclConfig_t up to the name, which it has since 2.27. */
struct config {
    size_t size;
    unsigned magic;
    unsigned version;
    int numbers[4];
    const char *network;
    int more_numbers[2];
    const char *name;
};
#define CONFIG_MAGIC 0xcafebeef
#define CONFIG_HAS_NAME 22700

#define INVALID_USAGE 5 /* ncclInvalidUsage, which these functions return if NCCL is gone */

#define IN_PROGRESS 7 /* ncclInProgress: it is made in the background */

#define COMMUNICATORS_MAX 256

/* ---- Communicators --------------------------------------------------------------------- */

static struct {
    struct ml_lock lock;
    struct {
        const void *communicator; /* NULL: the entry is free */
        uint32_t label;
    } list[COMMUNICATORS_MAX];
    unsigned made;
} known;

static const char *name_in(const struct config *config)
{
    bool has_name = config && config->magic == CONFIG_MAGIC && config->version >= CONFIG_HAS_NAME &&
                    config->size >= sizeof(*config);

    return has_name && config->name ? config->name : "";
}

static unsigned next_number(void)
{
    unsigned number = 0;

    if (ml_lock_or_give_up(&known.lock)) {
        number = known.made++;
        ml_unlock(&known.lock);
    }
    return number;
}

/* "NCCL, communicator 0 default_pg (rank 1 of 8)". The group of the configuration says what the call
 * does not: its name, and the rank in a part that was split off. */
static uint32_t label_for(int rank, int ranks, const struct config *config)
{
    const char *name = name_in(config);
    char text[ML_NCCL_GROUP_NAME_BYTES + 96], part[48] = "";
    struct ml_nccl_group group;

    if (ml_nccl_group_of(config, &group)) {
        name = *name ? name : group.name;
        rank = ranks > 0 ? rank : group.rank;
        ranks = ranks > 0 ? ranks : group.ranks;
    }
    if (ranks > 0)
        snprintf(part, sizeof(part), " (rank %d of %d)", rank, ranks);
    snprintf(text, sizeof(text), "%s%u%s%.*s%s", ML_NCCL_LABEL, next_number(), *name ? " " : "",
             ML_NCCL_GROUP_NAME_BYTES - 1, name, part);
    return ml_name(text);
}

/* Those of all devices of this process, which one call makes: "NCCL, communicator 0 (4 devices)" */
static uint32_t label_for_all(int devices)
{
    char text[96];

    snprintf(text, sizeof(text), "%s%u (%d devices)", ML_NCCL_LABEL, next_number(), devices);
    return ml_name(text);
}

/* Its entry, else a free one, else COMMUNICATORS_MAX. Precondition: the lock is held. */
static unsigned place_for(const void *communicator)
{
    unsigned unused = COMMUNICATORS_MAX;

    for (unsigned i = COMMUNICATORS_MAX; i-- > 0;) {
        if (known.list[i].communicator == communicator)
            return i;
        if (!known.list[i].communicator)
            unused = i;
    }
    return unused;
}

/* One beyond the room of the table is not known later. */
static void put(const void *communicator, uint32_t label)
{
    unsigned i;

    if (!communicator || !ml_lock_or_give_up(&known.lock))
        return;
    i = place_for(communicator);
    if (i < COMMUNICATORS_MAX) {
        known.list[i].communicator = communicator;
        known.list[i].label = label;
    }
    ml_unlock(&known.lock);
}

static uint32_t label_of(word communicator, bool forget)
{
    uint32_t label = 0;

    if (!communicator || !ml_lock_or_give_up(&known.lock))
        return 0;
    for (unsigned i = 0; !label && i < COMMUNICATORS_MAX; i++)
        if ((word)known.list[i].communicator == communicator) {
            label = known.list[i].label;
            if (forget)
                known.list[i].communicator = NULL;
        }
    ml_unlock(&known.lock);
    return label;
}

/* ---- Calls that make one ------------------------------------------------------------------ */

#define ENTRIES_MAKING(ENTRY)                                                                      \
    ENTRY(ncclCommInitRank)                                                                        \
    ENTRY(ncclCommInitRankConfig)                                                                  \
    ENTRY(ncclCommInitRankScalable)                                                                \
    ENTRY(ncclCommInitAll)                                                                         \
    ENTRY(ncclCommSplit)                                                                           \
    ENTRY(ncclCommShrink)                                                                          \
    ENTRY(ncclCommGrow)

/* ENTRY(function, its number of arguments, the communicator's place among them) */
#define ENTRIES_USING(ENTRY)                                                                       \
    ENTRY(ncclAllReduce, 7, 5)                                                                     \
    ENTRY(ncclAllGather, 6, 4)                                                                     \
    ENTRY(ncclReduceScatter, 7, 5)                                                                 \
    ENTRY(ncclBroadcast, 7, 5)                                                                     \
    ENTRY(ncclBcast, 6, 4)                                                                         \
    ENTRY(ncclReduce, 8, 6)                                                                        \
    ENTRY(ncclAlltoAll, 6, 4)                                                                      \
    ENTRY(ncclGather, 7, 5)                                                                        \
    ENTRY(ncclScatter, 7, 5)                                                                       \
    ENTRY(ncclSend, 6, 4)                                                                          \
    ENTRY(ncclRecv, 6, 4)                                                                          \
    ENTRY(ncclPutSignal, 11, 9)                                                                    \
    ENTRY(ncclSignal, 6, 4)                                                                        \
    ENTRY(ncclWaitSignal, 4, 2)                                                                    \
    ENTRY(ncclCommRegister, 4, 0)                                                                  \
    ENTRY(ncclCommWindowRegister, 5, 0)                                                            \
    ENTRY(ncclDevCommCreate, 3, 0)                                                                 \
    ENTRY(ncclCommResume, 1, 0)                                                                    \
    ENTRY(ncclCommFinalize, 1, 0)

/* The same for those that end it. */
#define ENTRIES_ENDING(ENTRY)                                                                      \
    ENTRY(ncclCommDestroy, 1, 0)                                                                   \
    ENTRY(ncclCommAbort, 1, 0)

#define ENUM_MAKING(function) AT_##function,
#define ENUM(function, count, place) AT_##function,
enum {
    ENTRIES_MAKING(ENUM_MAKING) ENTRIES_USING(ENUM) ENTRIES_ENDING(ENUM) AT_GROUP_END,
    ENTRY_COUNT
};
#undef ENUM_MAKING
#undef ENUM

static void *reals[ENTRY_COUNT];

static void *real_of(unsigned entry)
{
    return __atomic_load_n(&reals[entry], __ATOMIC_RELAXED);
}

/* In a group NCCL only notes the calls, and does the work when the group ends: for several
 * communicators if there are several, of which the last one counts. */
static __thread uint32_t last_used;

static void began(uint32_t label)
{
    last_used = label;
    ml_cuda_enter_communicator(label);
}

static int ended(int result, void *const *made, uint32_t label)
{
    ml_cuda_leave_communicator();
    if (result == 0 || result == IN_PROGRESS)
        put(*made, label);
    return result;
}

static int ncclCommInitRank(void **made, int ranks, struct unique_id id, int rank)
{
    int (*real)(void **, int, struct unique_id, int) =
        (int (*)(void **, int, struct unique_id, int))real_of(AT_ncclCommInitRank);
    uint32_t label = label_for(rank, ranks, NULL);

    if (!real)
        return INVALID_USAGE;
    began(label);
    return ended(real(made, ranks, id, rank), made, label);
}

static int ncclCommInitRankConfig(void **made, int ranks, struct unique_id id, int rank,
                                  struct config *config)
{
    int (*real)(void **, int, struct unique_id, int, struct config *) = (int (*)(
        void **, int, struct unique_id, int, struct config *))real_of(AT_ncclCommInitRankConfig);
    uint32_t label = label_for(rank, ranks, config);

    if (!real)
        return INVALID_USAGE;
    began(label);
    return ended(real(made, ranks, id, rank, config), made, label);
}

static int ncclCommInitRankScalable(void **made, int ranks, int rank, int ids, struct unique_id *id,
                                    struct config *config)
{
    int (*real)(void **, int, int, int, struct unique_id *, struct config *) =
        (int (*)(void **, int, int, int, struct unique_id *, struct config *))real_of(
            AT_ncclCommInitRankScalable);
    uint32_t label = label_for(rank, ranks, config);

    if (!real)
        return INVALID_USAGE;
    began(label);
    return ended(real(made, ranks, rank, ids, id, config), made, label);
}

/* How many ranks the part has is known only to all of them together, or to its group. */
static int ncclCommSplit(void *whole, int color, int key, void **made, struct config *config)
{
    int (*real)(void *, int, int, void **, struct config *) =
        (int (*)(void *, int, int, void **, struct config *))real_of(AT_ncclCommSplit);
    uint32_t label = label_for(0, 0, config);

    if (!real)
        return INVALID_USAGE;
    began(label);
    return ended(real(whole, color, key, made, config), made, label);
}

static int ncclCommShrink(void *whole, int *without, int without_count, void **made,
                          struct config *config, int flags)
{
    int (*real)(void *, int *, int, void **, struct config *, int) =
        (int (*)(void *, int *, int, void **, struct config *, int))real_of(AT_ncclCommShrink);
    uint32_t label = label_for(0, 0, config);

    if (!real)
        return INVALID_USAGE;
    began(label);
    return ended(real(whole, without, without_count, made, config, flags), made, label);
}

static int ncclCommGrow(void *part, int ranks, const struct unique_id *id, int rank, void **made,
                        struct config *config)
{
    int (*real)(void *, int, const struct unique_id *, int, void **, struct config *) =
        (int (*)(void *, int, const struct unique_id *, int, void **, struct config *))real_of(
            AT_ncclCommGrow);
    uint32_t label = label_for(rank, ranks, config);

    if (!real)
        return INVALID_USAGE;
    began(label);
    return ended(real(part, ranks, id, rank, made, config), made, label);
}

/* What DataParallel uses. The ledger has a book for each device, so one label will do. */
static int ncclCommInitAll(void **made, int devices, const int *list)
{
    int (*real)(void **, int, const int *) =
        (int (*)(void **, int, const int *))real_of(AT_ncclCommInitAll);
    uint32_t label = label_for_all(devices);
    int result;

    if (!real)
        return INVALID_USAGE;
    began(label);
    result = ended(real(made, devices, list), made, label);
    for (int i = 1; result == 0 && i < devices; i++)
        put(made[i], label);
    return result;
}

/* ---- Calls that use one -------------------------------------------------------------------- */

#define WORDS_1(W) W(0)
#define WORDS_3(W) W(0), W(1), W(2)
#define WORDS_4(W) WORDS_3(W), W(3)
#define WORDS_5(W) WORDS_4(W), W(4)
#define WORDS_6(W) WORDS_5(W), W(5)
#define WORDS_7(W) WORDS_6(W), W(6)
#define WORDS_8(W) WORDS_7(W), W(7)
#define WORDS_11(W) WORDS_8(W), W(8), W(9), W(10)
#define PARAMETER(n) word a##n
#define ARGUMENT(n) a##n

#define DEFINE(function, count, place, forget)                                                     \
    static int function(WORDS_##count(PARAMETER))                                                  \
    {                                                                                              \
        int (*real)(WORDS_##count(PARAMETER)) =                                                    \
            (int (*)(WORDS_##count(PARAMETER)))real_of(AT_##function);                             \
        int result;                                                                                \
                                                                                                   \
        if (!real)                                                                                 \
            return INVALID_USAGE;                                                                  \
        began(label_of(a##place, forget));                                                         \
        result = real(WORDS_##count(ARGUMENT));                                                    \
        ml_cuda_leave_communicator();                                                              \
        return result;                                                                             \
    }
#define DEFINE_USING(function, count, place) DEFINE(function, count, place, false)
#define DEFINE_ENDING(function, count, place) DEFINE(function, count, place, true)
ENTRIES_USING(DEFINE_USING)
ENTRIES_ENDING(DEFINE_ENDING)

static int group_end(void)
{
    int (*real)(void) = (int (*)(void))real_of(AT_GROUP_END);
    int result;

    if (!real)
        return INVALID_USAGE;
    began(last_used);
    result = real();
    ml_cuda_leave_communicator();
    return result;
}

/* ---- In their places ------------------------------------------------------------------------ */

#define ROW_MAKING(function) {#function, (void *)function, &reals[AT_##function]},
#define ROW(function, count, place) ROW_MAKING(function)
static const struct ml_torch_slot entries[] = {ENTRIES_MAKING(ROW_MAKING) ENTRIES_USING(
    ROW) ENTRIES_ENDING(ROW){"ncclGroupEnd", (void *)group_end, &reals[AT_GROUP_END]}};

void ml_torch_nccl_begin(void)
{
    ml_torch_slots_fill("nccl", entries, ENTRY_COUNT);
}
