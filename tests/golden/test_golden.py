#!/usr/bin/env python3
"""Runs the reports on stored traces and compares what they print.

    test_golden.py MEMLEDGER            compare
    test_golden.py MEMLEDGER --update   keep what they print now

Each case is a name and a command line; expected/NAME holds standard output,
with standard error and the exit code behind it where they are not empty and 0.

SPDX-License-Identifier: Apache-2.0
"""
import difflib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
TRACES = HERE / "traces"
EXPECTED = HERE / "expected"

CASES = {
    "summary.txt": "summary train-32.mled",
    "summary-80.txt": "summary gpt.mled",
    "summary-levels-80.txt": "summary train-64.mled",
    "stats-80.txt": "stats gpu.mled",
    "stats-processes-80.txt": "stats train-32.mled",
    "digest.json": "digest --json gpt.mled",
    "summary-narrow.txt": "summary --unit KiB --top 2 train-32.mled",
    "summary.json": "summary --json train-32.mled",
    "summary-cut.txt": "summary train-cut.mled",
    "summary-modules.txt": "summary modules.mled",
    "summary-modules.json": "summary --top 2 --json modules.mled",
    "summary-at.txt": "summary --at 50ms gpt.mled",
    "summary-at-device.txt": "summary --at peak --device cuda:0 gpu.mled",
    "summary-at.json": "summary --at peak --json gpu.mled",
    "summary-device.txt": "summary --device cuda:0 gpu.mled",
    "summary-process.json": "summary --process 4010 --json train-32.mled",
    "steps-process.txt": "steps --process 4000 train-32.mled",
    "stats-process.txt": "stats --process 4010 train-32.mled",
    "events-device.txt": "events --device cuda:0 --limit 4 gpu.mled",
    "events-process.txt": "events --process 4010 train-32.mled",
    "compare-device.txt": "compare --device cuda:0 gpu.mled gpt.mled",
    "fragmentation-no-process.txt": "fragmentation --process 1 gpu.mled",
    "oom-process.txt": "oom --process 4000 gpu.mled",
    "ledger.txt": "ledger gpu.mled",
    "ledger.json": "ledger --json gpu.mled",
    "ledger-end.txt": "ledger --at end --top 1 gpu.mled",
    "ledger-narrow.txt": "ledger --at 5ms --unit MiB gpu.mled",
    "ledger-fail.txt": "ledger --at end --top 0 --fail-over 0.01 gpu.mled",
    "ledger-early.txt": "ledger --at 2us --fail-over 1 gpu.mled",
    "ledger-no-gpu.txt": "ledger --device 3 gpu.mled",
    "tree.txt": "tree gpt.mled",
    "tree.json": "tree --json --min 0 gpt.mled",
    "tree-narrow.txt": "tree --depth 2 --at step:1 --unit KiB gpt.mled",
    "tree-end.txt": "tree --at end --device cuda:0 gpt.mled",
    "tree-time.txt": "tree --at 20ms train-32.mled",
    "layers.txt": "layers gpt.mled",
    "layers.json": "layers --json --at step:0:end gpt.mled",
    "layers.csv": "layers --csv gpt.mled",
    "table.txt": "table gpt.mled",
    "table-process.txt": "table --by process,category --process 4000 train-32.mled",
    "table-no-process.txt": "table --process 1 train-32.mled",
    "temporary-process.txt": "table --temporary --process 4010 train-32.mled",
    "table.json": "table --json --top 3 gpt.mled",
    "table.csv": "table --csv --by phase,category gpt.mled",
    "table-oom.txt": "table --at oom --by label,device --top 4 gpt.mled",
    "table-stack.txt": "table --by stack,space,thread --device 0 gpu.mled",
    "table-late.txt": "table --at 1h --by category gpt.mled",
    "check.txt": "check --max-peak 40MB --max-growth 1MB/step gpt.mled",
    "check.json": "check --json --max-growth 1MiB/step --max-leaks 20MiB leaky.mled",
    "check-exceeded.txt": "check --max-peak 30MiB --max-leaks 1KB gpt.mled",
    "check-device.txt": "check --max-peak 30MiB --device cpu gpt.mled",
    "check-no-device.txt": "check --max-peak 30MiB --device cuda:7 gpt.mled",
    "check-no-steps.txt": "check --max-growth 1MB/step gpu.mled",
    "check-no-limit.txt": "check gpt.mled",
    "check-bad-growth.txt": "check --max-growth 1MB/epoch gpt.mled",
    "check-growth-of-what.txt": "check --max-growth 1MB gpt.mled",
    "check-unfinished.txt": "check --max-peak 1TB --max-leaks 1TB train-cut.mled",
    "check-unfinished-leaks.txt": "check --max-leaks 1B train-cut.mled",
    "steps.txt": "steps gpt.mled",
    "steps.json": "steps --json gpt.mled",
    "steps.csv": "steps --csv gpt.mled",
    "leaks.txt": "leaks leaky.mled",
    "leaks.json": "leaks --json leaky.mled",
    "leaks-narrow.txt": "leaks --by stack,label --top 1 --unit KiB --warm-up 0 leaky.mled",
    "leaks-fail.txt": "leaks --fail --by module leaky.mled",
    "leaks-few.txt": "leaks --fail train-32.mled",
    "leaks-warm-up.txt": "leaks --warm-up 100 leaky.mled",
    "leaks-slices.txt": "leaks --slices 12 --by category leaky.mled",
    "leaks-none.txt": "leaks gpt.mled",
    "table-of-calls.txt": "table --of calls --by line leaky.mled",
    "table-of-leaked.json": "table --of leaked --by stack --top 1 --json leaky.mled",
    "table-of-allocated.csv": "table --of allocated --by function --csv leaky.mled",
    "bad-of.txt": "table --temporary --of leaked leaky.mled",
    "tree-callees.txt": "tree --by callees leaky.mled",
    "tree-callees-depth.txt": "tree --by callees --depth 1 --at step:3 leaky.mled",
    "tree-callers.txt": "tree --by callers --of temporary leaky.mled",
    "tree-callers.json": "tree --by callers --of leaked --json leaky.mled",
    "tree-no-stacks.txt": "tree --by callees train-32.mled",
    "bad-tree-of.txt": "tree --of leaked leaky.mled",
    "table-temporary.txt": "table --temporary leaky.mled",
    "table-temporary.json": "table --temporary --json --within 2ms --top 1 leaky.mled",
    "table-temporary.csv": "table --temporary --csv --at step:1 --by line gpt.mled",
    "bad-within.txt": "table --temporary --within soon gpt.mled",
    "temporary-at-end.txt": "table --temporary --at end gpt.mled",
    "ledger-step.txt": "ledger --at step:1 gpt.mled",
    "oom.txt": "oom oom.mled",
    "oom.json": "oom --json oom.mled",
    "oom-narrow.txt": "oom --unit KiB --top 2 --device 0 oom.mled",
    "oom-recovered.txt": "oom --at oom:1 oom.mled",
    "oom-total.txt": "oom train-64.mled",
    "oom-unknown.txt": "oom python.mled",
    "fragmentation.txt": "fragmentation --top 3 oom.mled",
    "fragmentation.json": "fragmentation --json --top 1 --at end gpu.mled",
    "fragmentation-foreign.txt": "fragmentation gpu.mled",
    "fragmentation-blocks.json": "fragmentation --json --blocks --top 1 oom.mled",
    "blocks.txt": "blocks --top 5 gpt.mled",
    "blocks.json": "blocks --json --top 2 --at step:1 gpt.mled",
    "blocks-picture.json": "blocks --json --width 8 --top 3 --from 20ms --to 60ms gpt.mled",
    "blocks-near.txt": "blocks --at peak --address 0x50 python.mled",
    "blocks-no-moment.txt": "blocks --address 0x1000 gpt.mled",
    "blocks-no-address.txt": "blocks --address here --at peak gpt.mled",
    "blocks-backwards.txt": "blocks --from 2s --to 1s gpt.mled",
    "stats.txt": "stats train-32.mled",
    "stats.json": "stats --json train-32.mled",
    "events.txt": "events train-32.mled",
    "events-80.txt": "events train-32.mled",
    "events-python-80.txt": "events python.mled",
    "events.json": "events --json train-32.mled",
    "events-filter.txt": "events --kind alloc,free --min-size 1MiB --scope conv train-32.mled",
    "events-python.txt": "events python.mled",
    "table-no-line.txt": "table --by line gpu.mled",
    "table-line.txt": "table --by line python.mled",
    "events-python.json": "events --json python.mled",
    "events-cut.txt": "events --limit 3 train-cut.mled",
    "compare.txt": "compare train-32.mled train-64.mled",
    "compare.json": "compare --json train-32.mled train-64.mled",
    "compare-fail.txt": "compare --fail-on-increase 5 train-32.mled train-64.mled",
    "compare-modules.txt": "compare --by module,category --top 4 gpt.mled leaky.mled",
    "compare-modules.json": "compare --by module --top 2 --json gpt.mled leaky.mled",
    "compare-steps.txt": "compare --each step gpt.mled leaky.mled modules.mled",
    "compare-steps.json": "compare --each step --top 1 --json gpt.mled leaky.mled",
    "compare-phases.txt": "compare --each phase --fail-on-increase 5 leaky.mled gpt.mled",
    "compare-narrow.txt": "compare gpt.mled leaky.mled modules.mled mxnet.mled",
    "compare-step.txt": "compare --at step:1 --by class gpt.mled leaky.mled",
    "compare-entry-fail.txt":
        "compare --by category --fail-on-increase 60 train-32.mled train-64.mled",
    "compare-instants.txt": "compare --at step:0,step:2 gpt.mled",
    "compare-instants.json":
        "compare --at step:0,20ms --by module --top 1 --device cpu --json gpt.mled",
    "compare-instants-runs.txt": "compare --at step:0,step:2 gpt.mled leaky.mled",
    "compare-instants-none.txt": "compare --at step:0,step:9 gpt.mled",
    "compare-one.txt": "compare gpt.mled",
    "compare-no-step.txt": "compare --at step:5 --by class leaky.mled gpt.mled",
    "compare-by-step.txt": "compare --by step leaky.mled gpt.mled",
    "compare-by-layer.txt": "compare --by category,layer leaky.mled gpt.mled",
    "compare-no-steps.txt": "compare --each step gpu.mled python.mled",
    "compare-both.txt": "compare --each step --by module leaky.mled gpt.mled",
    "plot.svg": "plot -o /dev/stdout.svg train-32.mled train-64.mled",
    "plot-baseline.svg": "plot -o /dev/stdout.svg --baseline 4MiB train-32.mled train-64.mled",
    "plot-bands.svg": "plot -o /dev/stdout.svg gpt.mled",
    "plot-modules.svg": "plot -o /dev/stdout.svg --by module --dark gpt.mled",
    "plot-depth.svg": "plot -o /dev/stdout.svg --by module --depth 1 gpt.mled",
    "plot-depth-by.txt": "plot --depth 2 gpt.mled",
    "plot-process.svg": "plot -o /dev/stdout.svg --process 4010 train-32.mled",
    "plot-process-none.txt": "plot -o /dev/stdout.svg --process 1 train-32.mled",
    "plot-window.svg": "plot -o /dev/stdout.svg --from 40ms --to 62.5ms gpt.mled",
    "plot-window-truth.svg": "plot -o /dev/stdout.svg --from 5ms --to 18ms gpu.mled",
    "plot-window-runs.svg": "plot -o /dev/stdout.svg --from 20ms train-32.mled train-64.mled",
    "plot-window-lifetimes.svg": "plot -o /dev/stdout.svg -k lifetimes -n 8 --from 30ms --to 50ms"
                                 " gpt.mled",
    "plot-truth.svg": "plot -o /dev/stdout.svg --by device gpu.mled",
    "plot-bars.svg": "plot -o /dev/stdout.svg -k bars -d mxnet-lstm,mxnet --expected 24MiB"
                     " mxnet.mled",
    "plot-bars-torch.svg": "plot -o /dev/stdout.svg -k bars modules.mled",
    "plot-categories.svg": "plot -o /dev/stdout.svg -k categories --min-share 1 gpt.mled",
    "plot-grid.svg": "plot -o /dev/stdout.svg -k categories --grid train-32.mled train-64.mled",
    "plot-grid-axes.svg": "plot -o /dev/stdout.svg -k categories --grid --axes each train-32.mled"
    " train-64.mled",
    "plot-flame-stack.svg": "plot -o /dev/stdout.svg -k flame --by stack --of allocated leaky.mled",
    "bad-plot-by.txt": "plot --by stack leaky.mled",
    "plot-flame.svg": "plot -o /dev/stdout.svg -k flame --at step:1 gpt.mled",
    "plot-icicle.svg": "plot -o /dev/stdout.svg -k icicle --height 300 --unit KiB gpt.mled",
    "plot-lifetimes.svg": "plot -o /dev/stdout.svg -k lifetimes -n 12 gpt.mled",
    "plot-segments.svg": "plot -o /dev/stdout.svg -k segments gpu.mled",
    "export-mxnet.csv": "export --format mxnet-csv -o - mxnet.mled",
    "export-mxnet-blocks.csv": "export --format mxnet-csv --level block -o - mxnet.mled",
    "export-mxnet-log.txt": "export --format mxnet-log -o - mxnet.mled",
    "export-pool.csv": "export --format mxnet-pool-csv -o - mxnet.mled",
    "export-pool-torch.csv": "export --format mxnet-pool-csv --at peak -o - gpt.mled",
    "export-tbd-log.txt": "export --format tbd-log -o - mxnet.mled",
    "export-tbd-torch.txt": "export --format tbd-log -o - modules.mled",
    "export-tbd.json": "export --format tbd-analysis -o - mxnet.mled",
    "export-smi.txt": "export --format nvidia-smi -o - mxnet.mled",
    "bad-format.txt": "export --format mxnet-cvs gpt.mled",
    "unknown-format.txt": "export --format feather gpt.mled",
    "no-format.txt": "export gpt.mled",
    "export.csv": "export --format csv -o - --table marks gpt.mled",
    "export-no-device.txt": "export --format chrome --device 0 gpt.mled",
    "export-no-table.txt": "export --format csv --table event gpt.mled",
    "sql.txt": 'sql gpt.mled "SELECT * FROM by_category"',
    "sql.json": 'sql --json gpt.mled "SELECT module, bytes FROM by_module LIMIT 3"',
    "sql.csv": 'sql --csv gpt.mled "SELECT * FROM step_peaks"',
    "sql-never-freed.txt": "sql gpu.mled 'SELECT space, bytes FROM never_freed ORDER BY space'",
    "sql-tables.txt": "sql gpt.mled",
    "sql-wrong.txt": 'sql gpt.mled "SELECT * FROM by_layer"',
    "export-no-instant.txt": "export --format tbd-log --at peak gpt.mled",
    "export-exists.txt": "export -o ../expected/export-tbd-log.txt --format tbd-log gpt.mled",
    "groups.txt": "groups mxnet.mled",
    "groups-torch.txt": "groups --top 0 modules.mled mxnet.mled",
    "groups-narrow.txt": "groups --gross -d torch --top 2 --unit MiB modules.mled",
    "groups.json": "groups --json --top 2 -d mxnet,layers --match all --expected auto mxnet.mled",
    "groups-tbd.txt": "groups --style tbd mxnet.mled",
    "groups-mxnet.txt": "groups --style mxnet -d mxnet --at end --expected auto mxnet.mled",
    "groups-expected.txt": "groups -d torch --expected 30MiB --top 0 gpt.mled modules.mled",
    "groups-show.txt": "groups --show mxnet",
    "bad-dictionary.txt": "groups -d mxmet mxnet.mled",
    "help-export.txt": "export --help",
    "help-groups.txt": "groups --help",
    "help.txt": "--help",
    "help-unknown.txt": "help torch",
    "help-misspelt.txt": "help sumary",
    "help-import.txt": "import --help",
    "help-summary.txt": "summary --help",
    "help-ledger.txt": "ledger --help",
    "help-table.txt": "table --help",
    "help-tree.txt": "tree --help",
    "help-layers.txt": "layers --help",
    "help-leaks.txt": "leaks --help",
    "help-sql.txt": "sql --help",
    "help-steps.txt": "steps --help",
    "help-blocks.txt": "blocks --help",
    "help-events.txt": "events --help",
    "help-compare.txt": "compare -h",
    "help-plot.txt": "plot --help",
    "help-metrics.txt": "metrics --help",
    "metrics.txt": "metrics --once -n 2 modules.mled",
    "metrics-bad-address.txt": "metrics --listen here gpt.mled",
    "help-live.txt": "live --help",
    "live-ended.txt": "live --once --by module gpt.mled",
    "live-cut.json": "live --once --json -n 3 train-cut.mled",
    "live-bad-key.txt": "live --by modul gpt.mled",
    "live-two-keys.txt": "live --by module,line gpt.mled",
    "help-check.txt": "check --help",
    "no-command.txt": "",
    "unknown-command.txt": "sumary x.mled",
    "unknown-option.txt": "summary --jsn train-32.mled",
    "no-file.txt": "summary absent.mled",
    "no-operand.txt": "stats",
    "not-a-trace.txt": "summary ../trace_scene.h",
    "a-program.txt": "summary ../test_golden.py",
    "plot-format.txt": "plot -o a.gif train-32.mled",
    "plot-kind.txt": "plot --kind pie train-32.mled",
    "plot-alone.txt": "plot --kind flame train-32.mled train-64.mled",
    "plot-no-segments.txt": "plot --kind segments gpt.mled",
    "plot-late.txt": "plot --from 2s gpt.mled",
    "plot-backwards.txt": "plot --from 2s --to 1s gpt.mled",
    "plot-at.txt": "plot --at end gpt.mled",
    "plot-no-device.txt": "plot --device cuda:7 gpt.mled",
    "plot-baseline-kind.txt": "plot --kind flame --baseline first gpt.mled",
    "plot-baseline-by.txt": "plot --by module --baseline min gpt.mled",
    "plot-baseline-word.txt": "plot --baseline last gpt.mled",
    "plot-axes.txt": "plot --kind categories --axes each train-32.mled train-64.mled",
    "plot-gross.txt": "plot --kind bars --gross --at peak gpt.mled",
    "bad-instant.txt": "ledger --at never gpu.mled",
    "bad-step.txt": "tree --at step:7 gpt.mled",
    "bad-step-word.txt": "layers --at step gpt.mled",
    "bad-key.txt": "table --by modul gpt.mled",
    "bad-device.txt": "table --device cuda:3 gpt.mled",
    "no-oom.txt": "table --at oom gpu.mled",
    "oom-none.txt": "oom gpu.mled",
    "oom-late.txt": "oom --at oom:9 oom.mled",
    "oom-no-device.txt": "oom --device cuda:3 oom.mled",
    "bad-oom.txt": "oom --at peak oom.mled",
    "fragmentation-none.txt": "fragmentation gpt.mled",
    "help-oom.txt": "oom --help",
    "help-fragmentation.txt": "fragmentation --help",
    "no-steps.txt": "steps gpu.mled",
    "bad-range.txt": "events --from 2s --to 1s train-32.mled",
    "ledger-no-host.txt": "ledger --device cpu gpu.mled",
    "ledger-cut.txt": "ledger --device 3 train-cut.mled",
    "bad-kind.txt": "events --kind aloc train-32.mled",
}


def environment(name):
    """Ours without what would change the reports."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("MEMLEDGER_")}
    env.pop("NO_COLOR", None)
    env.pop("COLUMNS", None)
    if name.endswith("-narrow.txt"):
        env["COLUMNS"] = "72"
    if name.endswith("-80.txt"):
        env["COLUMNS"] = "80"
    return env


def run_plot(memledger, args, env, tmp):
    """A picture goes to a file, and from there into the comparison."""
    out = tmp / "plot.svg"
    args = [str(out) if a == "/dev/stdout.svg" else a for a in args]
    done = subprocess.run([memledger, *args, "-f"], cwd=TRACES, env=env, capture_output=True)
    assert done.returncode == 0, done.stderr
    return out.read_text()


def run(memledger, name, command, tmp):
    env = environment(name)
    args = shlex.split(command)
    if name.endswith(".svg"):
        return run_plot(memledger, args, env, tmp)
    done = subprocess.run([memledger, *args], cwd=TRACES, env=env, capture_output=True)
    text = done.stdout.decode()
    if done.stderr:
        text += "--- standard error ---\n" + done.stderr.decode()
    if done.returncode != 0:
        text += f"--- exit code {done.returncode} ---\n"
    return text.replace(str(TRACES.resolve()), "/traces")  # metrics has absolute names


def check_syntax(name, text):
    if name.endswith(".json"):
        json.loads(text)
    elif name.endswith(".svg"):
        xml.etree.ElementTree.fromstring(text)
    elif name.endswith("-80.txt"):
        wide = [line for line in text.splitlines() if len(line) > 80]
        assert not wide, f"{name}: wider than the terminal: {wide}"


def main():
    memledger = str(pathlib.Path(sys.argv[1]).resolve())
    update = "--update" in sys.argv[2:]
    failures = 0
    with tempfile.TemporaryDirectory() as tmp:
        for name, command in CASES.items():
            text = run(memledger, name, command, pathlib.Path(tmp))
            check_syntax(name, text)
            path = EXPECTED / name
            if update:
                path.write_text(text)
                continue
            expected = path.read_text() if path.exists() else ""
            if text != expected:
                failures += 1
                sys.stdout.writelines(
                    difflib.unified_diff(
                        expected.splitlines(True), text.splitlines(True), f"expected/{name}",
                        f"memledger {command}"))
    print(f"{len(CASES)} reports, {failures} differ")
    if failures:
        print("if they should: tests/golden/test_golden.py build/src/cli/memledger --update")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
