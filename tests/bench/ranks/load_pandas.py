# SPDX-License-Identifier: Apache-2.0
"""load_pandas.py JSON...: the allocations of all ranks in pandas, as Holistic Trace Analysis loads traces: the JSON
of each rank is parsed and becomes a DataFrame; all of them are in memory together. Prints seconds and memory."""
import json
import resource
import sys
import time

import pandas

start = time.monotonic()
frames = {}
for rank, path in enumerate(sys.argv[1:]):
    with open(path, encoding="utf-8") as f:
        frames[rank] = pandas.DataFrame(json.load(f)["tables"]["allocations"])
loaded = time.monotonic() - start
table = pandas.concat(frames, names=["rank"])
counted = table[table["counted"]]
answer = counted.groupby(["rank", "category"])["bytes"].agg(["count", "sum"])
print(json.dumps({"load_s": loaded, "seconds": time.monotonic() - start, "rows": len(table),
                  "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
                  "bytes": {f"{rank} {category}": int(row["sum"]) for (rank, category), row in answer.iterrows()}}))
