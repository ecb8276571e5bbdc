"""Questions about a job, in SQL that DuckDB and Spark understand alike.

Sums are cast, since engines differ in the type of a sum, and every answer has an order of its own.

SPDX-License-Identifier: Apache-2.0
"""

PEAKS = """
select job, rank, host, device, peak_bytes, peak_time_ns, steps, ended
from ranks
order by job, rank, trace
"""

# Of each rank at its own peak.
CATEGORIES = """
select job, rank, category, cast(sum(bytes) as bigint) as bytes
from rank_modules
where step_row is null
group by job, rank, category
order by job, rank, category
"""

# `ranks`: that have the module; least and most among these.
MODULES = """
with cells as (
    select job, rank, module, category, sum(bytes) as bytes
    from rank_modules
    where step_row is null
    group by job, rank, module, category
)
select job, module, category, cast(count(rank) as bigint) as ranks,
       cast(min(bytes) as bigint) as least_bytes, cast(max(bytes) as bigint) as most_bytes,
       cast(sum(bytes) as bigint) as bytes
from cells
group by job, module, category
order by job, bytes desc, module, category
"""

STEPS = """
select job, number, cast(count(rank) as bigint) as ranks,
       cast(min(peak_bytes) as bigint) as least_bytes,
       cast(max(peak_bytes) as bigint) as most_bytes,
       cast(sum(peak_bytes) as bigint) as bytes
from rank_steps
group by job, number
order by job, number
"""

# From the end of the third step to that of the last: the first two allocate lasting memory.
GROWTH = """
with bounds as (
    select job, rank, min(step_row) as first_row, max(step_row) as last_row
    from rank_steps
    where step_row >= 2
    group by job, rank
)
select b.job, b.rank, f.end_bytes as first_bytes, l.end_bytes as last_bytes,
       l.number - f.number as steps,
       case when l.number > f.number
            then cast(floor((l.end_bytes - f.end_bytes) / (l.number - f.number)) as bigint)
       end as bytes_a_step
from bounds b
join rank_steps f on f.job = b.job and f.rank = b.rank and f.step_row = b.first_row
join rank_steps l on l.job = b.job and l.rank = b.rank and l.step_row = b.last_row
order by b.job, b.rank
"""

LEDGER = """
select job, part, entry, cast(count(device) as bigint) as devices,
       cast(sum(bytes) as bigint) as bytes
from rank_ledger
group by job, part, entry
order by job, part, entry
"""

# Of the whole run, not of the peak: every allocation of every rank is read.
ALLOCATED = """
select job, rank, category, cast(count(bytes) as bigint) as allocations,
       cast(sum(bytes) as bigint) as bytes, cast(sum(life_ns) as bigint) as life_ns
from allocations
where counted
group by job, rank, category
order by job nulls last, rank nulls last, category
"""

CHURN = """
select job, module, category, cast(count(bytes) as bigint) as allocations,
       cast(sum(bytes) as bigint) as bytes, cast(max(bytes) as bigint) as most_bytes
from allocations
where counted
group by job, module, category
order by job, bytes desc, module nulls last, category
"""
