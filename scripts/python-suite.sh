#!/bin/bash
# python-suite.sh [ARGUMENTS]: Python's own tests under memledger and without it.
# SUITE_PYTHON names an interpreter that has its tests.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

exec "$python" tests/integration/python/python_suite.py \
  --memledger build/src/cli/memledger "$@"
