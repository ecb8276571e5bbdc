#!/bin/bash
# attach-moments.sh [N [MINUTES]]: attach to each program of the test attach_moments N times (50) at
# random instants, and check that it goes on with the right result. Build first.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

export TEST_ATTACHES="${1:-50}"
long_test attach_moments "${2:-60}"
