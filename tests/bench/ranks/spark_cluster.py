# SPDX-License-Identifier: Apache-2.0
"""A standalone Spark cluster on loopback: a master and workers, each a process group."""
import os
import re
import signal
import socket
import subprocess
import time

START_S = 120
MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Cluster:
    """@python  the interpreter that has pyspark; executors use it, too"""

    def __init__(self, python, folder, workers, cores_each):
        self._folder = folder
        self._home = subprocess.check_output(
            [python, "-c", "import os, pyspark; print(os.path.dirname(pyspark.__file__))"], text=True).strip()
        self._env = os.environ | {"SPARK_HOME": self._home, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": python,
                                  "SPARK_LOCAL_DIRS": os.path.join(folder, "local")}
        self._processes = []
        port = free_port()
        self.address = f"spark://127.0.0.1:{port}"
        try:
            self._start("master", MASTER, "--host", "127.0.0.1", "--port", port, "--webui-port", free_port())
            self._wait("master", r"New state: ALIVE")
            self.workers = [self._start(f"worker{n}", WORKER, "--cores", cores_each, "--memory", "3g", "--host",
                                        "127.0.0.1", "--webui-port", free_port(), "--work-dir",
                                        os.path.join(folder, f"work{n}"), self.address) for n in range(workers)]
            for n in range(workers):
                self._wait(f"worker{n}", r"Successfully registered with master")
        except BaseException:
            self.close()
            raise

    def _log(self, name):
        return os.path.join(self._folder, f"{name}.log")

    def _start(self, name, program, *words):
        with open(self._log(name), "w", encoding="utf-8") as log:
            process = subprocess.Popen([os.path.join(self._home, "bin", "spark-class"), program, *map(str, words)],
                                       env=self._env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       start_new_session=True)
        self._processes.append(process)
        return process

    def _wait(self, name, pattern):
        for _ in range(START_S * 10):
            with open(self._log(name), encoding="utf-8") as log:
                text = log.read()
            if re.search(pattern, text):
                return
            time.sleep(0.1)
        raise RuntimeError(f"{name} did not start: {text[-1000:]}")

    @staticmethod
    def kill(worker):
        """With its executors, as if the machine had failed."""
        os.killpg(worker.pid, signal.SIGKILL)

    def close(self):
        for process in self._processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
