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

# The threshold spares a system call for each large block; it changes no check.
export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=1:detect_leaks=1:strict_string_checks=1:clear_shadow_mmap_threshold=16777216}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}

status=0

# sanitize NAME SANITIZERS SUITES [COMMAND PREFIX]: SUITES are options of meson test.
sanitize() {
  local name=$1 sanitizers=$2
  local -a suites
  read -ra suites <<<"$3"
  shift 3
  say "$name: $sanitizers"
  # The examples are left out: they take minutes under a sanitizer. -O1 compiles in half the time of
  # -O2, and removes fewer of the accesses that are to be checked. Its warnings, unlike those of the
  # plain build, are not errors: checks confuse the compiler's analysis.
  configure "build/$name" "-Db_sanitize=$sanitizers" -Doptimization=1 -Db_lundef=false \
    -Dtests=enabled -Dexamples=false -Dpreload_tests=false -Dviewer=disabled
  # Builds what these tests need, and nothing else.
  "$@" "$meson" test -C "build/$name" --print-errorlogs --timeout-multiplier 4 "${suites[@]}"
}

[ $# -gt 0 ] || set -- asan tsan
for name; do
  case $name in
  asan) sanitize asan address,undefined "--suite unit --suite sanitize" || status=1 ;;
  tsan)
    # ThreadSanitizer needs parts of the address space that strong randomisation may have used;
    # turn randomisation off where that is allowed.
    fixed=()
    if setarch -R true 2>/dev/null; then fixed=(setarch -R); fi
    sanitize tsan thread "--suite threads" "${fixed[@]}" || status=1
    ;;
  *) die "unknown sanitizer build '$name'; known: asan tsan" ;;
  esac
done
exit $status
