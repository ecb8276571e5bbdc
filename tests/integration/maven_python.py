# maven_python.py: a version of Python that neither the distribution nor pyenv may have, from an
# artifact on Maven: a whole installation, which can be anywhere.
#
# SPDX-License-Identifier: Apache-2.0
import fcntl
import glob
import os
import shutil
import subprocess
import zipfile

ARTIFACTS = {"3.14": "org.bytedeco:cpython:3.14.3-1.5.13:jar:linux-x86_64"}
INSTALL_S = 1800  # also on a slow machine: this only ends what hangs


def interpreter(folder, version):
    """The path of its interpreter below `folder`, installed once; None: it cannot be had."""
    program = os.path.join(folder, f"org/bytedeco/cpython/linux-x86_64/bin/python{version}")
    if version not in ARTIFACTS or not shutil.which("mvn"):
        return program if os.path.exists(program) else None
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w") as lock:  # another test may need the same
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(program):
            install(folder, version, program)
    return program if os.path.exists(program) else None


def install(folder, version, program):
    try:
        subprocess.run(["mvn", "-q", "-B", "dependency:copy", f"-DoutputDirectory={folder}",
                        f"-Dartifact={ARTIFACTS[version]}"], check=False, timeout=INSTALL_S,
                       stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return
    for archive in glob.glob(os.path.join(folder, "*.jar")):
        zipfile.ZipFile(archive).extractall(folder)
        os.chmod(program, 0o755)
        os.remove(archive)
