# postgresql.py: a cluster is made, filled by pgbench, loaded by four clients, and stopped;
# server and initdb are recorded.
#
# SPDX-License-Identifier: Apache-2.0
import glob
import os
import signal

from outcome import check, observe
from stage import PATIENCE_S, Server, as_user, ask, environment

QUESTIONS = (
    "select count(*), sum(aid) from pgbench_accounts",
    "select sum(abalance) = (select sum(delta) from pgbench_history) from pgbench_accounts",
    "select count(*) from pgbench_history",
    "select md5(string_agg(repeat(i::text, 100), '' order by i)) from generate_series(1, 20000) i",
)


def tool(name):
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
    check(found, f"no {name} below /usr/lib/postgresql")
    return found[-1]


def play(record, path):
    seen = {}
    made = observe(as_user(record("initdb", [tool("initdb"), "-D", "data", "-A", "trust", "-N"])),
                   PATIENCE_S, cwd=path, env=environment(path))
    check(made.code == 0, "initdb failed", made)
    seen["initdb"] = made.out, made.err
    client = ["-h", path, "-U", "nobody" if os.getuid() == 0 else os.environ["USER"]]
    database = [*client, "-d", "postgres"]
    with Server(record("postgres", [tool("postgres"), "-D", "data", "-k", path, "-h", ""]),
                path) as server:
        server.wait_until(lambda: ask([tool("pg_isready"), *client], path)[0] == 0)
        seen["fill"] = ask([tool("pgbench"), "-i", "-q", "-s", "1", *client, "postgres"], path)[0]
        seen["load"] = ask([tool("pgbench"), "-c", "4", "-j", "2", "-t", "250", *client,
                            "postgres"], path)[0]
        for question in QUESTIONS:
            seen[question] = ask([tool("psql"), "-At", *database, "-c", question], path)
        seen["stop"] = server.stop(signal.SIGINT)
    return seen
