# SPDX-License-Identifier: Apache-2.0
"""Real programs whose figures memledger and heaptrack must agree on, and the
same surroundings for both.

Two things would make the *program* differ between the recorders, and are made
equal here:

- The environment. memledger's variables stay set for the program's children,
  heaptrack removes its own; programs that copy their environment allocate more
  with more of it. Each run gets variables of the other's number and length.
- libstdc++, which heaptrack needs and a C program does not. It allocates a pool
  before main, and heaptrack frees that at exit. heaptrack_runtime.c does the
  same in memledger's run.
"""
import json
import os
import shutil
import subprocess
import sys

import functions_at_peak
import heaptrack_data
from bench_run import Failed, run
from row_heap import heaptrack_command

SQL = """\
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
  insert into t select i, 'row ' || i, i * 1.5 from n;
create index tb on t(b);
select count(*), sum(c) from t where b like '%7%';
select b from t order by c desc limit 5;
"""
PYTHON = "import json; print(len(json.dumps(list(range(10000)))))"


def _base_environment(ctx):
    return {"PATH": os.defpath + ":/usr/local/bin", "HOME": str(ctx.dir), "PWD": os.getcwd(),
            "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1", "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1"}


def _make_repository(path, env):
    """Sixty commits, always the same."""
    stream = []
    for i in range(60):
        text = "".join("line %d of %d\n" % (j, i) for j in range(40))
        message = "change %d\n\nWhy it was made.\n" % i
        stream.append("commit refs/heads/main\ncommitter A <a@example.org> %d +0000\n"
                      "data %d\n%s\nM 100644 inline file%d\ndata %d\n%s\n"
                      % (1600000000 + i, len(message), message, i % 7, len(text), text))
    subprocess.run(["git", "init", "-q", path], env=env, check=True)
    subprocess.run(["git", "-C", path, "fast-import", "--quiet"], env=env, check=True,
                   input="".join(stream).encode())


def programs(ctx):
    """{name: (argv, environment, whether it does the same each time)}"""
    env = _base_environment(ctx)
    found = {}
    if shutil.which("git"):
        repository = ctx.file("repository")
        if not os.path.exists(repository):
            _make_repository(repository, env)
        found["git log --stat"] = (["git", "-C", repository, "--no-pager", "log", "--stat",
                                    "main"], env, True)
    if shutil.which("sqlite3"):
        with open(ctx.file("script.sql"), "w", encoding="utf-8") as f:
            f.write(SQL)
        found["sqlite3 with a script"] = (["sqlite3", ":memory:",
                                           ".read " + ctx.file("script.sql")], env, True)
    python = [sys.executable, "-c", PYTHON]
    found["python3 -c"] = (python, env, True)
    found["python3 -c, PYTHONMALLOC=malloc"] = (python, dict(env, PYTHONMALLOC="malloc"), False)
    return found


# ---- The same surroundings -------------------------------------------------

def _seen(command, env):
    """The environment that a program run by the command finds."""
    out = run(command + [shutil.which("env"), "-0"], env=env).text
    found = {}
    for entry in out.split("\0"):
        name, equals, value = entry.partition("=")
        if equals:
            found[name.rsplit("\n", 1)[-1]] = value
    return found


def _disguised(seen, env):
    """Variables as many and as long as those that are new, without their effect."""
    return {("Y" if name[0] == "X" else "X") + name[1:]: value
            for name, value in seen.items() if env.get(name) != value}


class Recorders:
    """Runs programs under either of the two."""

    def __init__(self, ctx):
        self.ctx = ctx
        self.heaptrack = heaptrack_command(ctx)
        self.trace = ctx.file("equal.mled")
        self.memledger = ctx.recorded(self.trace, [], heap=True, options=("--names", "off"))
        self.with_stacks = ctx.recorded(self.trace, [], heap=True,
                                        options=("--names", "off", "--stacks", "native"))

    def environments(self, env):
        """(heaptrack's, memledger's), equal for the program."""
        preload = self.ctx.program("libheaptrack_runtime.so") + ":libstdc++.so.6"
        mine = dict(env, LD_PRELOAD=preload)
        theirs = dict(env)
        theirs.update(_disguised(_seen(self.memledger, mine), env))
        mine.update(_disguised(_seen(self.heaptrack + ["-o", self.ctx.file("env")], env), env))
        return theirs, mine

    def by_heaptrack(self, argv, env):
        figures, self.data = heaptrack_data.record(self.heaptrack, argv, env,
                                                   self.ctx.file("equal"))
        self.peak_bytes = figures.peak_bytes
        return figures

    def by_memledger(self, argv, env, stacks=False):
        run((self.with_stacks if stacks else self.memledger) + argv, env=env)
        text = run([self.ctx.memledger, "summary", "--json", self.trace]).text
        summary = json.loads(text)
        if summary["lost"]:
            raise Failed("memledger lost %d events of %s" % (summary["lost"], argv[0]))
        return heaptrack_data.Figures(summary["allocations"], summary["peak_bytes"],
                                      summary["live_bytes"])

    def functions_at_peak(self):
        """Bytes by function in the last recording of each, memledger's with stacks: {function:
        (heaptrack's, memledger's)} where they differ, and the number of functions."""
        a = functions_at_peak.of_heaptrack(self.data, self.peak_bytes)
        b = functions_at_peak.of_memledger(self.ctx.memledger, self.trace)
        return {key: (a[key], b[key]) for key in a | b if a[key] != b[key]}, len(a | b)
