# dist_kvstore.py: MXNet's scheduler, a server and two workers on this machine; the first
# worker drives the server's profile, as it would by MXNet's own profiler.
#
#     dist_kvstore.py         starts them all
#
# SPDX-License-Identifier: Apache-2.0
import os
import socket
import subprocess
import sys

ROLES = ("scheduler", "server", "worker", "worker")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_all():
    env = os.environ | {"DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_PS_ROOT_PORT": str(free_port()),
                        "DMLC_NUM_SERVER": "1", "DMLC_NUM_WORKER": "2", "DMLC_INTERFACE": "lo",
                        "DMLC_NODE_HOST": "127.0.0.1"}
    started = [subprocess.Popen([sys.executable, __file__], env=env | {"DMLC_ROLE": role})
               for role in ROLES]
    sys.exit(max(abs(process.wait()) for process in started))


def work():
    import mxnet  # a scheduler and a server do not come back from here
    from memledger.mxnet import profiler

    kvstore = mxnet.kv.create("dist_sync")
    profiler.set_kvstore_handle(kvstore.handle)
    first = kvstore.rank == 0
    if first:
        profiler.set_config(filename="server.json", profile_process="server")
        profiler.set_state("run", profile_process="server")
    profiler.set_config(filename=f"worker{kvstore.rank}.json")
    profiler.set_state("run")
    rounds = profiler.Domain("training").new_counter("rounds")
    kvstore.init(3, mxnet.nd.ones((10, 10)))
    for _ in range(2):
        kvstore.push(3, mxnet.nd.ones((10, 10)))
        out = mxnet.nd.zeros((10, 10))
        kvstore.pull(3, out=out)
        out.wait_to_read()
        rounds += 1
    if first:
        profiler.set_state("stop", profile_process="server")
        profiler.dump(profile_process="server")
    profiler.dump()


if "DMLC_ROLE" in os.environ:
    work()
else:
    start_all()
