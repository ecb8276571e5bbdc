# build.py: builds the page and makes it part of the command.
#
#     build.py list SOURCE                    print the files that it is made of
#     build.py make SOURCE FOLDER OUTPUT.c    make it in FOLDER, where the packages of npm stay
#                                             until the lock file changes
#     build.py test FOLDER                    run its own tests, once it is made
#
# SPDX-License-Identifier: Apache-2.0
import hashlib
import os
import shutil
import subprocess
import sys

LEFT_OUT = shutil.ignore_patterns("node_modules", "dist", "screenshots", ".*", "__pycache__")


def run(*command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}:\n{done.stdout}")


def install(folder):
    """The packages of the lock file, once."""
    with open(os.path.join(folder, "package-lock.json"), "rb") as f:
        wanted = hashlib.sha256(f.read()).hexdigest()
    note = os.path.join(folder, "node_modules", ".installed")
    if os.path.exists(note) and open(note).read() == wanted:
        return
    run("npm", "ci", "--no-audit", "--no-fund", folder=folder)
    os.makedirs(os.path.dirname(note), exist_ok=True)
    with open(note, "w") as f:
        f.write(wanted)


def copy(source, folder):
    """Files that are no longer in the source must not be built."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name != "node_modules":
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    shutil.copytree(source, folder, ignore=LEFT_OUT, dirs_exist_ok=True)


def list_files(source):
    for path, folders, names in os.walk(source):
        folders[:] = sorted(set(folders) - LEFT_OUT(path, folders))
        for name in sorted(set(names) - LEFT_OUT(path, names)):
            print(os.path.relpath(os.path.join(path, name), source))


def make(source, folder, output):
    os.makedirs(folder, exist_ok=True)
    copy(source, folder)
    install(folder)
    run("npm", "run", "build", folder=folder)
    subprocess.run([sys.executable, os.path.join(source, "embed.py"),
                    os.path.join(folder, "dist"), output], check=True)


def test(folder):
    run("npm", "test", folder=folder)
    run("npm", "run", "lint", folder=folder)


{"list": list_files, "make": make, "test": test}[sys.argv[1]](*map(os.path.abspath, sys.argv[2:]))
