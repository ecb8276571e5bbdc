#!/bin/bash
# bench-ranks.sh [ARGUMENTS]: ask questions of the traces of a whole job with DuckDB and with a Spark
# cluster on loopback, and compare the answers. The arguments go to the benchmark.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

scripts/setup.sh bench-ranks
scripts/build.sh
venv build/pypi/spark scripts/requirements-spark.txt

export MEMLEDGER=$root/build/src/cli/memledger
export BUILD_DIR=$root/build
export SPARK_PYTHON=$root/build/pypi/spark/bin/python
exec "$python" tests/bench/ranks/bench_ranks.py "$@"
