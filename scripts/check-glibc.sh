#!/bin/bash
# check-glibc.sh VERSION DIR: fail unless every program and library under DIR runs on that
# glibc: no newer symbol version, no library except glibc's own.
set -euo pipefail

[ $# -eq 2 ] || { echo "usage: check-glibc.sh VERSION DIR" >&2; exit 2; }
limit=$1 dir=$2
allowed='lib(c|pthread|dl|m|rt)\.so\.[0-9]+|ld-linux-x86-64\.so\.2'
status=0 checked=0

complain() {
  echo "$1: $2" >&2
  status=1
}

while IFS= read -r -d '' file; do
  readelf -h "$file" >/dev/null 2>&1 || continue
  checked=$((checked + 1))

  libraries=$(readelf -dW "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  others=$(sed -E "/^($allowed)?\$/d" <<<"$libraries" | xargs)
  [ -z "$others" ] || complain "$file" "needs $others; link it statically"

  newest=$(readelf -VW "$file" | sed -n 's/.*Name: GLIBC_\([0-9.]*\) .*/\1/p' | sort -uV |
    tail -n 1)
  if [ "$(printf '%s\n' "$limit" "${newest:-0}" | sort -V | tail -n 1)" != "$limit" ]; then
    complain "$file" "needs glibc $newest, newer than $limit:"
    objdump -T "$file" | grep -F "GLIBC_$newest" >&2 || true
  fi
  [ $status -ne 0 ] || echo "$file: glibc ${newest:-any}, $(xargs <<<"$libraries")"
done < <(find "$dir" -type f -print0)

if [ $checked -eq 0 ]; then
  echo "$dir: no program or library to check" >&2
  status=1
fi
exit $status
