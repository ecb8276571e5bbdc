#!/bin/bash
# attach-moments.sh [N]: attach to each program of the test attach_moments N times (50) at random
# instants, and check that it goes on with the right result. Build first.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

TEST_ATTACHES="${1:-50}" exec "$meson" test -C build --no-rebuild --timeout-multiplier 20 --verbose attach_moments
