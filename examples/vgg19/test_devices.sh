#!/bin/sh
# test_devices.sh VGG19: with a GPU, every algorithm there gives the host's
# logits; without one, the program says what is missing and exits with 3.
#
# SPDX-License-Identifier: Apache-2.0
set -eu

if [ $# -ne 1 ]; then
    echo "usage: $0 PATH-TO-VGG19" >&2
    exit 2
fi
vgg19=$1

# expect STATUS TEXT ARGUMENT...: that exit status, and that text on stderr.
expect() {
    wanted=$1
    text=$2
    shift 2
    status=0
    said=$("$vgg19" "$@" 2>&1 >/dev/null) || status=$?
    case $status,$said in
    "$wanted",*"$text"*) ;;
    *)
        echo "vgg19 $*: exit $status, expected $wanted and '$text'; it said: $said" >&2
        exit 1
        ;;
    esac
}

expect 2 '--algo cudnn needs --device cuda' --algo cudnn
expect 2 'cpu cuda' --device gpu
expect 2 'needs a value' --device
expect 2 'from 1 to 64' --batch 0
expect 2 'from 1 to 64' --batch 65

if "$vgg19" --device cuda --probe; then
    for algo in direct im2col winograd fft; do
        "$vgg19" --device cuda --algo $algo --size 64 --batch 3 --check
    done
    if "$vgg19" --device cuda --algo cudnn --probe; then
        "$vgg19" --device cuda --algo cudnn --size 64 --batch 3 --check
    fi
else
    expect 3 'vgg19: ' --device cuda
fi
