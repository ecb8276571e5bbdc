# name_cases.py: threads and processes with names, each of which makes a record.
#
# SPDX-License-Identifier: Apache-2.0
import concurrent.futures
import multiprocessing
import sys
import threading

import memledger


def work(*_):
    with memledger.scope("work"):
        pass


def rename():
    work()
    threading.current_thread().name = "renamed"


def threads():
    work()
    for thread in (threading.Thread(target=work, name="loader"), threading.Thread(target=work),
                   threading.Thread(target=rename, name="before")):
        thread.start()
        thread.join()
    with concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="pool") as pool:
        list(pool.map(work, range(4)))


def processes(method):
    process = multiprocessing.get_context(method).Process(target=work, name="loader")
    work()
    process.start()
    process.join()


if __name__ == "__main__":
    threads() if sys.argv[1] == "threads" else processes(sys.argv[1])
