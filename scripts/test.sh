#!/bin/bash
# test.sh: build, run every test, also the sanitizer builds, and list the failed tests before a
# last line:
#
#     N passed, N failed[, N skipped]
#
# A test is a test of Meson: a program or a script, often with many cases. Exit status 1 when
# anything failed.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

log=build/test.log
status=0
mkdir -p build
: >$log

# step TITLE COMMAND...: run it, keep the output for the count, continue.
step() {
  say "$1"
  shift
  "$@" </dev/null 2>&1 | tee -a $log || status=1
}

step "build" scripts/build.sh --werror
with_npm # the tests of the page run it too
if [ $status -eq 0 ]; then
  step "tests" "$meson" test -C build --print-errorlogs --no-rebuild
  step "tests under sanitizers" scripts/test-sanitizers.sh
fi

counts=$(awk '
  /^(Ok|Expected Fail): +[0-9]+/ { passed += $NF }
  /^(Fail|Unexpected Pass|Timeout): +[0-9]+/ { failed += $NF }
  /^Skipped: +[0-9]+/ { skipped += $NF }
  END { print passed + 0, failed + 0, skipped + 0 }' $log)
read -r passed failed skipped <<<"$counts"

# A failed build counts as a failure, although none of its tests were counted; so does a run
# without tests.
if [ $status -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
if [ "$passed" -eq 0 ] && [ "$failed" -eq 0 ]; then
  echo "no tests ran" >&2
  status=1
fi

# Each failed test with its failed cases; Meson prints them twice.
grep -E '^ *[0-9]+/[0-9]+ .* (FAIL|TIMEOUT|ERROR|UNEXPECTEDPASS) |: FAILED: |^\[  FAILED  \]' $log |
  awk '!seen[$0]++' || true
line="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
echo "$line"
[ "$failed" -eq 0 ] || status=1
exit $status
