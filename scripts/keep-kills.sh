#!/bin/bash
# keep-kills.sh [N [MINUTES]]: kill a program and its collector N times each (100) under `run --keep`,
# at random instants, and check that what is left is exact. Build first.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

export TEST_KILLS="${1:-100}"
long_test keep "${2:-60}"
