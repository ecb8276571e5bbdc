#!/bin/sh
# collect.sh TRACES COLLECTED digests|all: copy the digests of a pod, or its traces too, to the folder of
# the job, again when they change, until SIGTERM; then once more.
#
# SPDX-License-Identifier: Apache-2.0
set -u
traces=$1 collected=$2 what=$3
every_s=${COLLECT_EVERY_S:-10}

# A reader of the folder sees a file complete or not at all.
copy() {
  [ -e "$1" ] || return 0
  to=$collected/${1##*/}
  cmp -s "$1" "$to" || { cp "$1" "$to.part" && mv "$to.part" "$to"; }
}
copy_all() {
  for file in "$traces"/*.mled.digest; do copy "$file"; done
  [ "$what" = all ] || return 0
  for file in "$traces"/*.mled; do copy "$file"; done
}

ending=
trap 'ending=yes' TERM INT
mkdir -p "$collected"
while [ -z "$ending" ]; do
  copy_all
  sleep "$every_s" &
  wait $!
done
copy_all
