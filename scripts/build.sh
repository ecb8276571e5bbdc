#!/bin/bash
# build.sh [--werror] [TARGET...]: build into build/: everything, or these targets of ninja's.
# build.sh [--werror] --configure: only set the folder up.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

werror=false
if [ "${1:-}" = --werror ]; then
  werror=true
  shift
fi

with_npm
configure build "-Dwerror=$werror"
# The tests need warnings as errors, and fail without cmocka, in a folder that `make demo` may
# have configured without these. This is never undone, because each change back would recompile
# everything.
if [ $werror = true ]; then
  settings=$("$meson" introspect build --buildoptions |
    "$python" -c 'import json, sys
o = {x["name"]: x["value"] for x in json.load(sys.stdin)}
print(o["werror"], o["tests"])')
  [ "$settings" = "True enabled" ] || "$meson" configure build -Dwerror=true -Dtests=enabled
fi
if [ "${1:-}" = --configure ]; then exit 0; fi
ninja -C build "$@"
