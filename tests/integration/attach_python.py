# attach_python.py: the program of test_attach_python.py: works until it is told to end, in its
# main thread and in two others, and handles a signal again and again.
#
# SPDX-License-Identifier: Apache-2.0
import signal
import sys
import threading
import time

ticks = 0
wanted = True


def tick(*_):
    global ticks
    ticks += 1


def end(*_):
    global wanted
    wanted = False


def work(rounds):
    """The same sum each time, by way of many blocks of malloc."""
    return sum(len(bytearray(600 + i)) for i in range(rounds))


def work_on(sums):
    while wanted:
        sums.add(work(50))


def main():
    signal.signal(signal.SIGALRM, tick)
    signal.signal(signal.SIGTERM, end)
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    sums = [set(), set(), set()]
    threads = [threading.Thread(target=work_on, args=(own,)) for own in sums[1:]]
    for thread in threads:
        thread.start()
    print("ready", flush=True)
    work_on(sums[0])
    for thread in threads:
        thread.join()
    before = ticks
    time.sleep(0.1)
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(*sums, "ticks" if ticks > before else "no ticks", sorted(vars(sys.modules["__main__"])))


main()
