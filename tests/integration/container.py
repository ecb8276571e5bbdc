# container.py: a container with files of its own, made of namespaces and of this machine's /usr,
# for the tests of memledger attach. It sees nothing of memledger.
#
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import subprocess

import harness
from harness import Skip

# Its own root, processes, network and more; $1 is the root, $2 names folders of this machine, $3 is
# the mode of /dev/shm.
ENTER = """
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
for folder in usr etc $2; do
    mount --bind "/$folder" "$folder"
    mount -o remount,bind,ro "$folder"
done
for device in null zero urandom; do
    touch "dev/$device"
    mount --bind "/dev/$device" "dev/$device"
done
mount -t proc proc proc
mount -t tmpfs -o "mode=$3,noexec,size=64m" tmpfs dev/shm
pivot_root . old
umount -l /old
shift 3
exec "$@"
"""
SPACES = ["--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child"]


def make_root(folders=()):
    """In this folder; returns its path."""
    for name in ["usr", "etc", "proc", "dev/shm", "old", "tmp", "home", *folders]:
        os.makedirs(os.path.join("root", name), exist_ok=True)
    os.chmod("root", 0o755)
    os.chmod("root/tmp", 0o1777)
    for name in ["bin", "sbin", "lib", "lib32", "lib64", "libx32"]:
        if os.path.islink("/" + name):
            os.symlink(os.readlink("/" + name), "root/" + name)
        elif os.path.isdir("/" + name):
            raise Skip("programs of this machine are in folders beside /usr", machine=True)
    return os.path.abspath("root")


def innermost(pid):
    """The last of a chain of children."""
    while children := harness.children(pid):
        pid = children[0]
    return pid


NOBODY = 65534


def become(user):
    return ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"]


def give_away(folder, user):
    """With what is in it."""
    for path, folders, files in os.walk(folder):
        for name in [".", *folders, *files]:
            os.chown(os.path.join(path, name), user, user, follow_symlinks=False)


class Container:
    """A program of the tests, or a command with the whole path, in a container.
    `within`: a command before it, such as contained; `user`: its user; `owner`: the user who
    makes it, in a user namespace; `folders`: those of this machine that it sees, too; `shm_mode`: rights to /dev/shm, where no file can be executed."""

    def __init__(self, *command, within=(), user=None, user_space=False, owner=None,
                 folders=(), shm_mode="1777"):
        if not shutil.which("unshare") or not shutil.which("pivot_root"):
            raise Skip("no unshare or pivot_root", machine=True)
        spaces = [*SPACES, *(["--user", "--map-root-user"] if user_space else [])]
        maker = become(owner) if owner else []
        if subprocess.run([*maker, "unshare", *spaces, "true"], capture_output=True).returncode:
            raise Skip("no namespaces here", machine=True)
        root = make_root(folders)
        inside = []
        for word in [*within, *command]:
            if "/" not in word and os.path.exists(harness.program(word)):
                shutil.copy(harness.program(word), "root/home")
                word = "/home/" + word
            inside.append(word)
        if owner:
            give_away("root", owner)
        self.process = subprocess.Popen(
            [*maker, "unshare", *spaces, "sh", "-c", ENTER, "sh", root, " ".join(folders), shm_mode,
             *(become(user) if user else []), *inside],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def pid(self):
        """Of the program, as this machine numbers it; once it has written something."""
        return innermost(self.process.pid)

    def ask(self, request):
        print(request, file=self.process.stdin, flush=True)
        return harness.read_line(self.process)

    def left(self):
        """What memledger has left in it."""
        return [os.path.join(path, name)
                for top in ("tmp", "dev/shm") for path, folders, files in
                os.walk(f"/proc/{self.pid()}/root/{top}") for name in [*folders, *files]]

    def end(self):
        out, _ = self.process.communicate(timeout=harness.PATIENCE_S)
        return out, self.process.returncode
