#!/usr/bin/env python3
# test_rights.py: the collector writes for a program only what the program could write itself
# when it asked: see gives_up_rights.c.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import stat

import harness
from harness import check, contains, equal, program

NOBODY = 65534
IS_ROOT = os.getuid() == 0


def tree(folder):
    """Everything in a folder: kind, owner and contents by path."""
    found = {}
    for root, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(root, name)
            about = os.lstat(path)
            content = b""
            if stat.S_ISREG(about.st_mode):
                with open(path, "rb") as f:
                    content = f.read()
            found[path] = (about.st_mode, about.st_uid, about.st_size, content)
    return found


def forbidden():
    """A folder with a file that the program must not write to."""
    os.chmod(".", 0o755)
    os.makedirs("forbidden/folder")
    for name in ("file.json", "rank0_file.json"):
        with open(f"forbidden/{name}", "w") as f:
            f.write("precious")
    return os.path.abspath("forbidden")


def own(user=NOBODY):
    """A folder that it may write to."""
    os.mkdir("own")
    if IS_ROOT:
        os.chown("own", user, user)
    return os.path.abspath("own")


def ask(how, *arguments):
    """Lines of the program: how often each way worked, and the reasons."""
    result = harness.run(program("gives_up_rights"), how, *arguments, options=["-f"],
                         env=os.environ | {"DMLC_ROLE": "server"})
    equal(result.code, 0, f"{how}: the program", result)
    return [line.split(" ", 2) for line in result.out.splitlines()]


def counted(path):
    with open(path) as f:
        events = json.load(f)["traceEvents"]
    return [e["args"]["c"] for e in events if e["ph"] == "C" and e["name"] == "c"]


def refused(how, *paths, reason="cannot be created"):
    """Each way to write to each of the paths fails with a reason, and nothing is there."""
    before = tree("forbidden")
    lines = [line for line in ask(how, *paths) if line[0] != "exists"]
    equal(tree("forbidden"), before, "the forbidden folder")
    for way, code, text in lines:
        equal(code, "-1", f"{how}: {way} worked", text)
        contains(text, reason, f"{how}: the reason that {way} failed")


def written(folder, user):
    for name in ("p.json", "rank0_p.json"):
        path = os.path.join(folder, name)
        equal(os.stat(path).st_uid, user, f"the owner of {name}")
        equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, f"the mode of {name}")
        check(7 in counted(path), f"{name} lacks what was counted")


# ---- Rights that were dropped ----------------------------------------------


def tricks(place, inside):
    """Paths that lead into a folder, or to a file in it, by detours from another."""
    for rank in ("", "rank0_"):  # what the file of a server begins with
        os.symlink(f"{place}/file.json", f"{inside}/{rank}to-file")
        os.symlink(f"{place}/new.json", f"{inside}/{rank}to-nothing")
    os.symlink(place, f"{inside}/to-folder")
    parent = os.getpid()  # of the launcher: it has all its rights
    return [f"{place}/file.json", f"{place}/new.json", f"{place}/folder/new.json",
            f"{inside}/to-file", f"{inside}/to-nothing", f"{inside}/to-folder/file.json",
            f"{inside}/../forbidden/file.json", f"/proc/self/root{place}/file.json",
            f"/proc/{parent}/root{place}/new.json", f"/proc/{parent}/cwd/forbidden/new.json"]


def test_a_program_that_dropped_its_rights():
    if not IS_ROOT:
        raise harness.Skip("rights can be dropped by root alone", machine=True)
    place, inside = forbidden(), own()
    refused("setuid", *tricks(place, inside))
    # What it may write it can, as its own.
    ask("setuid", f"{inside}/p.json")
    written(inside, NOBODY)


def test_the_default_name():
    """The program is in a folder that it cannot write to."""
    if not IS_ROOT:
        raise harness.Skip("rights can be dropped by root alone", machine=True)
    forbidden()
    os.chdir("forbidden")
    before = tree(".")
    result = harness.run(program("gives_up_rights"), "setuid", "profile.json", trace="../t.mled",
                         env=os.environ | {"DMLC_ROLE": "server"})
    equal(result.code, 0, "the program", result)
    equal(tree("."), before, "the folder")


def test_a_path_that_changes():
    """A link that leads to a forbidden file half of the time."""
    if not IS_ROOT:
        raise harness.Skip("rights can be dropped by root alone", machine=True)
    place, inside = forbidden(), own()
    before = tree("forbidden")
    ask("setuid", "swap", f"{inside}/link", f"{inside}/p.json", f"{place}/file.json")
    equal(tree("forbidden"), before, "the forbidden folder")
    check(set(os.listdir(inside)) <= {"link", "link.next", "p.json"}, os.listdir(inside))


def test_rights_that_it_has():
    forbidden()
    inside = own(os.getuid())
    ask("nothing", f"{inside}/p.json")
    written(inside, os.getuid())


if not IS_ROOT:  # root can write everywhere
    def test_no_rights_from_the_start():
        """A folder without permission to write, for a program of the same user."""
        place = forbidden()
        os.chmod("forbidden/folder", 0o555)
        refused("nothing", f"{place}/folder/new.json")


# ---- Sandboxes -------------------------------------------------------------


def test_another_root():
    """Paths mean what they mean below the program's own root."""
    place = forbidden()
    if not IS_ROOT:
        raise harness.Skip("the root can be changed by root alone", machine=True)
    jail = os.path.abspath("jail")
    os.makedirs(jail + place)
    before = tree("forbidden")
    ask(f"chroot:{jail}", f"{place}/p.json", "/../../../p.json")
    equal(tree("forbidden"), before, "the folder of that name outside")
    check(not os.path.exists("/p.json"), "/p.json outside")
    written(jail + place, 0)
    written(jail, 0)
    refused(f"chroot:{jail}", "/no-such-folder/new.json")


def test_other_namespaces():
    """A file system that only the program sees is mounted over the folder."""
    place = forbidden()
    before = tree("forbidden")
    result = harness.run(program("gives_up_rights"), f"namespaces:{place}", f"{place}/p.json",
                         env=os.environ | {"DMLC_ROLE": "server"})
    if result.code == 3 and "unshare" in result.err:
        raise harness.Skip("no user namespaces here", machine=True)
    equal(result.code, 0, "the program", result)
    equal(tree("forbidden"), before, "what lies below")
    contains(result.out, f"exists 0 {place}/p.json", "what the program sees")
    contains(result.out, f"dump 0 {place}/p.json", "what the program was told")


def test_a_filter_of_system_calls():
    """It may not open files any more, so none is opened for it."""
    place, _ = forbidden(), own()
    refused("seccomp", f"{place}/new.json", reason="")


if __name__ == "__main__":
    harness.main(globals())
