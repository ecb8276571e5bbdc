#!/bin/bash
# lint.sh: automatic checks of the code's style.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

status=0
files() { git ls-files --cached --others --exclude-standard -- "$@"; }

say "file names"
# Every folder of src/ is an include path: a name must be unique and must not hide a system
# header that is in use.
twice=$(files src | grep '\.[ch]$' | sed 's,.*/,,' | sort | uniq -d)
if [ -n "$twice" ]; then
  echo "more than one file in src/ is called: $twice"
  status=1
fi
system=$(files '*.[ch]' | xargs sed -n 's/^ *# *include <\(.*\)>.*/\1/p' | sort -u)
hidden=$(files src | sed -n 's,.*/\(.*\.h\)$,\1,p' | grep -xF "$system" || true)
if [ -n "$hidden" ]; then
  echo "a file in src/ hides a system header that is included as <...>: $hidden"
  status=1
fi

say "clang-format"
mapfile -t c_files < <(files '*.c' '*.h')
clang-format --dry-run -Werror "${c_files[@]}" || status=1

say "shellcheck"
mapfile -t shell_files < <(files '*.sh' .ci/run)
shellcheck -x "${shell_files[@]}" || status=1

say "clang-tidy"
# clang does not know all of gcc's options.
mkdir -p build/lint
sed 's/-fvect-cost-model=dynamic//g' build/compile_commands.json >build/lint/compile_commands.json
# The example for MXNet needs MXNet's header, and is compiled by its own test.
mapfile -t sources < <(files 'src/*.c' 'examples/*.c' ':!examples/mxnet')
printf '%s\0' "${sources[@]}" |
  xargs -0 -n 4 -P "$(nproc)" clang-tidy --quiet -p build/lint 2>&1 |
  sed '/^[0-9]* warnings\{0,1\} generated\.$/d' || status=1

[ $status -eq 0 ] && say "no problems found"
exit $status
