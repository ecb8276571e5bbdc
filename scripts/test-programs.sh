#!/bin/bash
# test-programs.sh [NAME...]: real programs under memledger, compared with themselves alone.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

exec "$python" tests/programs/suite.py --memledger build/src/cli/memledger "$@"
