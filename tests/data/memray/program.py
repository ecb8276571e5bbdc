import threading
kept = []
def keep(size):
    kept.append(bytearray(size))
def through_c(size):
    return sorted(range(3), key=lambda n: len(bytes(size)) or n)
def work(base):
    for n in range(5):
        keep(base + n)
        through_c(base)
t = threading.Thread(target=work, args=(20000,), name="worker"); t.start(); t.join()
work(50000)
keep(8_000_000)
kept.pop()
