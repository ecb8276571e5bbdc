# dist_kvstore.py: MXNet's scheduler, a server and two workers on this machine; the first
# worker drives the server's profile. The server keeps the weights and updates them.
#
#     dist_kvstore.py mxnet|memledger         starts them all, with that profiler
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
    started = [subprocess.Popen([sys.executable, *sys.argv], env=env | {"DMLC_ROLE": role})
               for role in ROLES]
    sys.exit(max(abs(process.wait()) for process in started))


def work():
    import mxnet  # a scheduler and a server do not come back from here
    if sys.argv[1] == "mxnet":
        from mxnet import profiler
    else:
        from memledger.mxnet import profiler

    kvstore = mxnet.kv.create("dist_sync")
    profiler.set_kvstore_handle(kvstore.handle)
    first = kvstore.rank == 0
    if first:
        profiler.set_config(filename="server.json", profile_all=True, profile_process="server")
        profiler.set_state("run", profile_process="server")
    kvstore._barrier()  # the server's profile has all of what follows, of both workers
    kvstore.set_optimizer(mxnet.optimizer.create("sgd", learning_rate=0.5))
    profiler.set_config(filename=f"worker{kvstore.rank}.json", profile_all=True)
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
        profiler.pause(profile_process="server")
        profiler.resume(profile_process="server")
        profiler.set_state("stop", profile_process="server")
        profiler.dump(profile_process="server")
    profiler.dump()
    assert out.asnumpy()[0, 0] == -1, out  # 1 less half of two ones, twice


if "DMLC_ROLE" in os.environ:
    work()
else:
    start_all()
