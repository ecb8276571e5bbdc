#!/bin/bash
# demo.sh: record VGG-19 with four convolution algorithms and compare them.
# SIZE=256 gives the full input (default: what fits in two minutes on 2 cores).
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

memledger=build/src/cli/memledger
vgg19=build/examples/vgg19/vgg19
out=build/demo
size=()
[ -z "${SIZE:-}" ] || size=(--size "$SIZE")

mkdir -p $out
traces=()
for algo in direct im2col winograd fft; do
  trace=$out/vgg19-$algo.mled
  # The first writes its result, the others must arrive at the same.
  if [ $algo = direct ]; then
    result=(--output "$out/vgg19.output")
  else
    result=(--check "$out/vgg19.output")
  fi
  say "VGG-19, $algo convolution"
  $memledger run -q -f -o $trace -- $vgg19 --algo $algo "${size[@]}" "${result[@]}"
  traces+=("$trace")
done

echo
$memledger compare "${traces[@]}"
$memledger plot "${traces[@]}" -o $out/vgg19.svg

cat <<END

The four curves in one picture: $out/vgg19.svg
The traces:                     $out/vgg19-*.mled

Next:
    $memledger summary $out/vgg19-fft.mled
    $memledger run --heap -- YOUR-PROGRAM ITS-ARGUMENTS
END
