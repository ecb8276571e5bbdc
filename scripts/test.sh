#!/bin/bash
# test.sh: build, run every test, also the sanitizer builds, and list the failed tests before a
# last line:
#
#     N passed, N failed[, N skipped]
#
# A test is a test of Meson: a program or a script, often with many cases. Exit status 1 when
# anything failed. A few failed tests of the suite integration, which use browsers, servers and
# other large programs, run once more, alone; the output names those that passed only then.
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

# failed_tests: the names of those of the last run, one on a line.
failed_tests() {
  "$python" -c 'import json, sys
for test in map(json.loads, open("build/meson-logs/testlog.json")):
    if test["result"] in ("FAIL", "TIMEOUT", "ERROR"):
        print(test["name"])'
}

# run_again: the failed tests, if they are few and all of the suite integration.
run_again() {
  local -a names
  mapfile -t names < <(failed_tests)
  [ ${#names[@]} -gt 0 ] && [ ${#names[@]} -le $most_again ] || return 1
  [ "$(printf '%s\n' "${names[@]}" | grep -cv ':integration / ')" -eq 0 ] || return 1
  say "again, alone: ${names[*]##* / }"
  "$meson" test -C build --print-errorlogs --no-rebuild --timeout-multiplier 3 --num-processes 1 \
    "${names[@]##* / }" </dev/null >build/again.log 2>&1 || { cat build/again.log; return 1; }
  again=("${names[@]##* / }")
}

most_again=4
again=()
step "build" scripts/build.sh --werror
with_npm # the tests of the page run it too
if [ $status -eq 0 ]; then
  step "tests" "$meson" test -C build --print-errorlogs --no-rebuild --timeout-multiplier 3
  if [ $status -ne 0 ] && run_again; then status=0; fi
  step "tests under sanitizers" scripts/test-sanitizers.sh
fi

counts=$(awk '
  /^(Ok|Expected Fail): +[0-9]+/ { passed += $NF }
  /^(Fail|Unexpected Pass|Timeout): +[0-9]+/ { failed += $NF }
  /^Skipped: +[0-9]+/ { skipped += $NF }
  END { print passed + 0, failed + 0, skipped + 0 }' $log)
read -r passed failed skipped <<<"$counts"
passed=$((passed + ${#again[@]}))
failed=$((failed - ${#again[@]}))

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
for name in "${again[@]}"; do echo "$name failed beside other tests and passed alone"; done
line="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
echo "$line"
[ "$failed" -eq 0 ] || status=1
exit $status
