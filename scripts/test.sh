#!/bin/bash
# test.sh [OPTION|NAME]...: build and run every test, also under sanitizers, or those that the options
# of tests/suite/run_tests.py select. The last line is
#
#     N passed, N failed[, N skipped]
#
# A test is a test of Meson: a program or a script, often with many cases. Exit status 1 when
# anything failed.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

with_npm # the tests of the page run it too
setting=--for-tests
[ "${1:-}" != --changed ] || setting=--for-check
if ! scripts/build.sh $setting; then
  echo "0 passed, 1 failed"
  exit 1
fi
MESON=$meson exec "$python" tests/suite/run_tests.py "$@"
