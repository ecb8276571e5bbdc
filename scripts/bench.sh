#!/bin/bash
# bench.sh [ARGUMENTS]: measure memledger beside memray and heaptrack. The
# arguments go to the benchmark.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

venv build/venv scripts/requirements-bench.txt

export MEMLEDGER=$root/build/src/cli/memledger
export MEMRAY=$root/build/venv/bin/memray
export BUILD_DIR=$root/build
exec "$python" tests/bench/bench.py "$@"
