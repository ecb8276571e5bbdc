#!/bin/bash
# test-programs.sh [NAME...]: run real programs under memledger and compare them with runs
# without it.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

exec "$python" tests/programs/suite.py --memledger build/src/cli/memledger "$@"
