#!/bin/bash
# pytest-limits.sh [N [MINUTES]]: run a test with limits that it keeps N times (1000). Build first.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

export TEST_REPEATS="${1:-1000}"
long_test pytest_plugin "${2:-60}"
