/* oom_judge.c: the rules of oom_verdict.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "oom_verdict.h"

#define ADDRESSES (UINT64_C(1) << 47) /* address space of a process on x86-64 */

static uint64_t missing(uint64_t wanted, uint64_t there)
{
    return wanted > there ? wanted - there : 0;
}

static void decide(struct ml_oom *o, enum ml_oom_verdict verdict, enum ml_oom_rule rule,
                   struct ml_seen short_bytes)
{
    o->verdict = verdict;
    o->rule = rule;
    o->short_bytes = short_bytes;
}

/* The last sample may be older than the last allocations. If it leaves room for the request, the
 * process lacked at most the request itself. */
static void judge_by_address_limit(struct ml_oom *o)
{
    uint64_t asked = o->refusal.bytes;
    uint64_t over = missing(ml_sum_u64(o->addresses.used.bytes, asked), o->addresses.limit.bytes);

    decide(o, ML_OOM_LIMIT, ML_RULE_ADDRESS_LIMIT,
           (struct ml_seen){true, over ? ml_min_u64(over, asked) : asked});
}

/* Whether the figures alone prove that the limit forbade the request. */
static bool exceeds_address_limit(const struct ml_oom *o)
{
    return o->host && o->addresses.limit.known && o->addresses.used.known &&
           ml_sum_u64(o->addresses.used.bytes, o->refusal.bytes) > o->addresses.limit.bytes;
}

/* For requests that go directly to the driver or the system. */
static void judge_by_free(struct ml_oom *o)
{
    uint64_t asked = o->refusal.bytes;
    const struct ml_seen unknown = {0}, none = {true, 0};

    if (!o->driver.free.known)
        decide(o, ML_OOM_UNKNOWN, ML_RULE_NO_FIGURES, unknown);
    else if (asked <= o->driver.free.bytes && o->addresses.limit.known)
        judge_by_address_limit(o);
    else if (asked > o->driver.free.bytes)
        decide(o, ML_OOM_SHORTAGE, ML_RULE_FREE,
               (struct ml_seen){true, missing(asked, o->driver.free.bytes)});
    else
        decide(o, ML_OOM_LIMIT, ML_RULE_FREE_ENOUGH, none);
}

static void find_capacity(struct ml_oom *o)
{
    uint64_t has = o->place.bytes, left = o->driver.free.bytes;

    o->least_capacity = has;
    o->most_capacity = ml_sum_u64(has, missing(o->need_bytes, 1));
    if (!o->driver.free.known)
        return;
    if (left < o->need_bytes) {
        o->least_capacity = o->most_capacity = ml_sum_u64(has, left);
        return;
    }
    o->limited = o->refusal.driver_bytes == 0;
    /* Other refusals may give a narrower range. If they contradict this one, the limit changed
     * during the run. */
    if (o->limited && o->place.limit.known && o->place.limit.at_least <= o->most_capacity &&
        o->place.limit.below > has) {
        o->least_capacity = ml_max_u64(has, o->place.limit.at_least);
        o->most_capacity = ml_min_u64(o->most_capacity, o->place.limit.below - 1);
    }
}

static void judge_by_segments(struct ml_oom *o)
{
    struct ml_seen short_bytes = {true, 0};

    short_bytes.bytes = missing(o->afresh_bytes, o->least_capacity);
    if (o->afresh_bytes <= o->least_capacity)
        decide(o, ML_OOM_FRAGMENTATION, ML_RULE_FITS_AFRESH, short_bytes);
    else if (o->afresh_bytes > o->most_capacity)
        decide(o, ML_OOM_SHORTAGE, ML_RULE_TOO_MUCH, short_bytes);
    else
        decide(o, ML_OOM_UNKNOWN, ML_RULE_BETWEEN, short_bytes);
}

void ml_oom_judge(struct ml_oom *o)
{
    uint64_t asked = o->refusal.bytes;
    const struct ml_seen *total = &o->driver.total, unknown = {0};
    uint64_t room = o->driver.free.known ? o->driver.free.bytes : total->bytes;

    if (o->has_segments)
        find_capacity(o);
    if (o->refusal.killed) /* some of the last allocation had its pages already */
        decide(o, ML_OOM_LIMIT, ML_RULE_GROUP_LIMIT, (struct ml_seen){true, asked});
    else if (o->host && asked > ADDRESSES)
        decide(o, ML_OOM_SHORTAGE, ML_RULE_ADDRESSES,
               total->known ? (struct ml_seen){true, missing(asked, room)} : unknown);
    else if (total->known && asked > total->bytes)
        decide(o, ML_OOM_SHORTAGE, ML_RULE_TOTAL, (struct ml_seen){true, missing(asked, room)});
    else if (exceeds_address_limit(o))
        judge_by_address_limit(o);
    else if (o->has_segments)
        judge_by_segments(o);
    else if (o->host || o->refusal.driver_bytes > 0)
        judge_by_free(o);
    else if (total->known && ml_sum_u64(o->live_bytes, asked) > total->bytes)
        decide(o, ML_OOM_SHORTAGE, ML_RULE_TOTAL,
               (struct ml_seen){true, ml_sum_u64(o->live_bytes, asked) - total->bytes});
    else
        decide(o, ML_OOM_UNKNOWN, ML_RULE_NO_SEGMENTS, unknown);
}

const char *ml_oom_verdict_name(enum ml_oom_verdict verdict)
{
    static const char *const names[] = {
        [ML_OOM_UNKNOWN] = "unknown",
        [ML_OOM_SHORTAGE] = "shortage",
        [ML_OOM_FRAGMENTATION] = "fragmentation",
        [ML_OOM_LIMIT] = "limit",
    };

    return names[verdict];
}

const char *ml_oom_rule_name(enum ml_oom_rule rule)
{
    static const char *const names[] = {
        [ML_RULE_NO_FIGURES] = "no_figures",
        [ML_RULE_NO_SEGMENTS] = "no_segments",
        [ML_RULE_ADDRESSES] = "addresses",
        [ML_RULE_TOTAL] = "total",
        [ML_RULE_FREE] = "free",
        [ML_RULE_FREE_ENOUGH] = "free_enough",
        [ML_RULE_ADDRESS_LIMIT] = "address_limit",
        [ML_RULE_GROUP_LIMIT] = "group_limit",
        [ML_RULE_FITS_AFRESH] = "fits_afresh",
        [ML_RULE_TOO_MUCH] = "too_much",
        [ML_RULE_BETWEEN] = "between",
    };

    return names[rule];
}

const char *ml_oom_change_name(enum ml_oom_change_kind kind)
{
    static const char *const names[] = {
        [ML_CHANGE_LEAK] = "leak",
        [ML_CHANGE_EXPANDABLE] = "expandable_segments",
        [ML_CHANGE_SEGMENTS] = "free_segments",
        [ML_CHANGE_RAISE_LIMIT] = "raise_limit",
        [ML_CHANGE_BATCH] = "smaller_batch",
        [ML_CHANGE_GRADIENTS] = "gradients",
        [ML_CHANGE_OPTIMIZER] = "optimizer_state",
        [ML_CHANGE_RECOMPUTE] = "recompute",
        [ML_CHANGE_BFLOAT16] = "bfloat16",
    };

    return names[kind];
}
