#!/bin/bash
# bench.sh [ARGUMENTS]: measure memledger beside memray and heaptrack. The
# arguments go to the benchmark.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

venv build/venv scripts/requirements-bench.txt
# The same place as for the tests.
venv build/pypi/mxnet-1.9.1 scripts/requirements-mxnet-1.9.1.txt ||
  say "no MXNet 1.9.1 for this Python: its row is left out"

export MEMLEDGER=$root/build/src/cli/memledger
export MEMRAY=$root/build/venv/bin/memray
export BUILD_DIR=$root/build
exec "$python" tests/bench/bench.py "$@"
