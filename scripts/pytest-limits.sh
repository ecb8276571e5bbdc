#!/bin/bash
# pytest-limits.sh [N]: run a test with limits that it keeps N times (1000). Build first.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

TEST_REPEATS="${1:-1000}" exec "$meson" test -C build --no-rebuild --timeout-multiplier 10 --verbose pytest_plugin
