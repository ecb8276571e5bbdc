#!/bin/bash
# test-sanitizers.sh [asan] [tsan]: build with each sanitizer in its own folder, and run tests
# there. Both by default.
#
#   build/asan   AddressSanitizer, LeakSanitizer, UndefinedBehaviorSanitizer: the suites `unit` and
#                `sanitize`, which has the fuzzers
#   build/tsan   ThreadSanitizer: the suite `threads`, a part of these
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

[ $# -gt 0 ] || set -- asan tsan
folders=()
for name; do folders+=(--folder "$name"); done
MESON=$meson exec "$python" tests/suite/run_tests.py "${folders[@]}"
