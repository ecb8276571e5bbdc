#!/usr/bin/env python3
# test_rank_examples.py: the examples for jobs with many ranks. The job script of Slurm runs with an
# srun that starts the ranks here; the side-car of Kubernetes collects a real digest; the Helm chart
# becomes valid YAML whose parts fit together.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import re
import subprocess

import harness
from harness import MEMLEDGER, PATIENCE_S, check, equal, plain, program, report, run

EXAMPLES = pathlib.Path(os.environ["EXAMPLES"])
CHART = EXAMPLES / "kubernetes" / "chart"

# Two nodes of two tasks each; with --ntasks, so many tasks.
SRUN = """#!/bin/bash
tasks=4
while [[ $1 == --* ]]; do
  case $1 in --ntasks=*) tasks=${1#*=} ;; esac
  shift
done
export SLURM_NTASKS=$tasks
for ((i = 0; i < tasks; i++)); do
  SLURM_PROCID=$i SLURM_LOCALID=$((i % 2)) SLURM_NODEID=$((i / 2)) "$@" &
  started+=($!)
done
status=0
for pid in "${started[@]}"; do wait "$pid" || status=$?; done
exit "$status"
"""


def put_program(name, text):
    os.makedirs("bin", exist_ok=True)
    path = pathlib.Path("bin", name)
    path.write_text(text)
    path.chmod(0o755)


def run_job(*command):
    put_program("srun", SRUN)
    put_program("memledger", f'#!/bin/sh\nexec {MEMLEDGER} "$@"\n')
    env = os.environ | {"PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}", "SLURM_JOB_ID": "4711",
                        "SLURM_NNODES": "2", "SLURM_SUBMIT_DIR": os.getcwd(), "MEMLEDGER_TRACES": os.getcwd()}
    return plain("bash", EXAMPLES / "slurm" / "train.sbatch", *command, env=env)


def test_slurm():
    done = run_job(program("trains"), "2")
    equal(done.returncode, 0, "exit code", done.stderr)
    found = report("ranks", "traces/4711")
    equal((found["job"], found["world_size"], found["present"], found["findings"]), ("4711", 4, 4, []), "the job")
    check("4 of 4 ranks" in pathlib.Path("traces/4711/ranks.txt").read_text(), "ranks.txt")
    check(os.path.getsize("traces/4711/ranks.svg") > 1000, "ranks.svg")


def test_slurm_failure():
    """The exit code is that of the program, and the report names the rank."""
    done = run_job("/bin/sh", "-c", f'[ "$SLURM_PROCID" != 3 ] || exit 7; exec {program("trains")} 2')
    equal(done.returncode, 7, "exit code", done.stderr)
    finding, = report("ranks", "traces/4711")["findings"]
    equal((finding["kind"], finding["ranks"]), ("failed", [3]), "the finding", finding)


def wait_for(path):
    harness.wait_until(lambda: os.path.exists(path), path)


def test_side_car():
    """It copies a digest that appears while it runs, and one that appears last."""
    os.mkdir("pod")
    env = os.environ | {"COLLECT_EVERY_S": "0.1"}
    side_car = subprocess.Popen(["sh", CHART / "files" / "collect.sh", "pod", "all", "digests"], env=env)
    try:
        ranks = [os.environ | {"JOB_COMPLETION_INDEX": str(rank), "MEMLEDGER_JOB": "train", "MEMLEDGER_WORLD_SIZE": "2"}
                 for rank in range(2)]
        equal(run(program("trains"), 2, trace="pod/%r.mled", options=["-q"], env=ranks[0]).code, 0, "exit code")
        wait_for("all/0.mled.digest")
        equal(run(program("trains"), 2, trace="pod/%r.mled", options=["-q"], env=ranks[1]).code, 0, "exit code")
    finally:
        side_car.terminate()
        equal(side_car.wait(timeout=PATIENCE_S), 0, "exit code of the side-car")
    equal(sorted(os.listdir("all")), ["0.mled.digest", "1.mled.digest"], "what is collected")
    found = report("ranks", "all")
    equal((found["job"], found["world_size"], found["present"], found["findings"]), ("train", 2, 2, []), "the job")


def render(text, values):
    """What Helm does with the few expressions that the chart uses."""
    def value(match):
        expression = match[1]
        if expression == ".Release.Name":
            return "train"
        file = re.fullmatch(r'\.Files\.Get "([^"]+)" \| toJson', expression)
        if file:
            return json.dumps((CHART / file[1]).read_text())
        name = re.fullmatch(r"\.Values\.(\w+)( \| toJson)?", expression)
        check(name and name[1] in values, f"unknown expression {expression}")
        return json.dumps(values[name[1]]) if name[2] else str(values[name[1]])
    text = re.sub(r"{{ (?:if .*?|end) }}\n?", "", text)
    return re.sub(r"{{ (.*?) }}", value, text)


def test_chart():
    try:
        import yaml
    except ImportError:
        raise harness.Skip("Python has no yaml", machine=True) from None
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    equal(yaml.safe_load((CHART / "Chart.yaml").read_text())["apiVersion"], "v2", "Chart.yaml")
    parts = {path.name: yaml.safe_load(render(path.read_text(), values))
             for path in sorted((CHART / "templates").iterdir())}
    equal({name: part["kind"] for name, part in parts.items()},
          {"job.yaml": "Job", "report.yaml": "Job", "scripts.yaml": "ConfigMap"}, "templates")
    spec = parts["job.yaml"]["spec"]
    equal((spec["completionMode"], spec["completions"], spec["parallelism"]), ("Indexed", 1000, 1000), "pods")
    pod = spec["template"]["spec"]
    volumes = {volume["name"] for volume in pod["volumes"]}
    for container in pod["initContainers"] + pod["containers"]:
        check({mount["name"] for mount in container["volumeMounts"]} <= volumes, "volumes of", container["name"])
    equal(pod["volumes"][2]["configMap"]["name"], parts["scripts.yaml"]["metadata"]["name"], "the script's volume")
    equal(pod["containers"][0]["args"], ["python", "train.py"], "the command")
    equal(parts["scripts.yaml"]["data"]["collect.sh"], (CHART / "files" / "collect.sh").read_text(), "the script")
    used = {name for path in (CHART / "templates").iterdir() for name in re.findall(r"\.Values\.(\w+)", path.read_text())}
    equal(used, set(values), "values of the chart")


if __name__ == "__main__":
    harness.main(globals())
