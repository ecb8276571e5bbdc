#!/bin/bash
# install.sh PREFIX: install the build; DESTDIR is honoured.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

prefix=$(realpath -m "${1:?usage: install.sh PREFIX}")
"$meson" configure build -Dprefix="$prefix"
"$meson" install -C build --quiet
say "installed: ${DESTDIR:-}$prefix/bin/memledger"
