#!/bin/bash
# build.sh [TARGET...]: build into build/: everything, or these targets of ninja's.
# build.sh --for-tests|--for-check: only set the folder up.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

with_npm
case ${1:-} in
--for-tests) wanted=(-Dtests=enabled -Dwerror=true) ;;
# With warnings as errors only in a new folder: everything would be compiled again.
--for-check) wanted=(-Dtests=enabled) ;;
*)
  configure build -Dwerror=false
  exec ninja -C build "$@"
  ;;
esac

# `make` and `make demo` may have configured the folder without these. This is never undone, because
# each change back would recompile everything.
configure build -Dtests=enabled -Dwerror=true
settings=$("$meson" introspect build --buildoptions |
  "$python" -c 'import json, sys
for option in json.load(sys.stdin):
    print("-D%s=%s" % (option["name"], str(option["value"]).lower()))')
for option in "${wanted[@]}"; do
  grep -qxF -e "$option" <<<"$settings" || "$meson" configure build "$option"
done
