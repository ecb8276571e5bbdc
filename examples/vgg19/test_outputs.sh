#!/bin/sh
# test_outputs.sh VGG19: the four algorithms must give the same logits to 1e-3,
# and the comparison itself must be able to fail.
#
# SPDX-License-Identifier: Apache-2.0
set -eu

if [ $# -ne 1 ]; then
    echo "usage: $0 PATH-TO-VGG19" >&2
    exit 2
fi
vgg19=$1
size=32
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$vgg19" --algo direct --size $size --output "$dir/direct"
for algo in im2col winograd fft; do
    "$vgg19" --algo $algo --size $size --check "$dir/direct"
done

# Results must not depend on the number of threads, to the last bit.
"$vgg19" --algo direct --size $size --threads 1 --output "$dir/one"
cmp "$dir/direct" "$dir/one"

status=0
"$vgg19" --algo im2col --size $size --seed 2 --check "$dir/direct" || status=$?
if [ $status -ne 1 ]; then
    echo "another seed's logits passed the check (exit $status, expected 1)" >&2
    exit 1
fi
echo "all four algorithms agree"
