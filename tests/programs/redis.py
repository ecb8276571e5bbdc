# redis.py: a server under its own benchmark, with a snapshot by a forked child.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal

from stage import Server, ask

TESTS = "set,get,incr,lpush,rpop,sadd,hset,zadd,lrange_100,mset"


def play(record, path):
    socket = os.path.join(path, "redis.sock")
    seen = {}

    def client(*words):
        return ask(["redis-cli", "-s", socket, *words], path)

    command = ["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", path]
    with Server(record("redis", command), path) as server:
        server.wait_until(lambda: client("ping")[1] == "PONG\n")
        seen["load"] = ask(["redis-benchmark", "-s", socket, "-q", "-n", "5000", "-c", "20",
                            "-t", TESTS], path)[0]
        seen["fill"] = client("debug", "populate", "50000", "key", "100")
        seen["snapshot"] = client("save")
        server.wait_until(lambda: "rdb_bgsave_in_progress:0" in client("info", "persistence")[1])
        seen["background"] = client("bgsave")
        server.wait_until(lambda: "rdb_bgsave_in_progress:0" in client("info", "persistence")[1])
        seen["state"] = [line for line in client("info", "persistence")[1].splitlines()
                         if line.startswith("rdb_last_bgsave_status")]
        seen["size"] = client("dbsize")
        seen["one"] = client("get", "key:4711")
        seen["stop"] = server.stop(signal.SIGTERM)
    return seen
