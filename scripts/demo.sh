#!/bin/bash
# demo.sh: record VGG-19 with each convolution algorithm and compare them: on the GPU if there
# is one, else on the CPU. DEVICE=cpu or cuda chooses. SIZE=256 is the full input (default on a
# GPU; on a CPU the default finishes in two minutes on 2 cores).
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

memledger=build/src/cli/memledger
vgg19=build/examples/vgg19/vgg19
out=build/demo
mkdir -p $out

# Exit status 3 means that there is no GPU, or that something it needs is missing.
can_run() { $vgg19 --probe "$@" >$out/probe.log 2>&1; }

device=${DEVICE:-}
if [ -z "$device" ]; then
  if can_run --device cuda; then device=cuda; else device=cpu; fi
fi
algorithms=(direct im2col winograd fft)
# The first result, always from the CPU, is kept; all others must equal it.
result=(--output "$out/vgg19.output")
if [ "$device" = cuda ]; then
  can_run --device cuda || die "$(cat $out/probe.log)"
  say "on $(cat $out/probe.log)"
  size=(--size "${SIZE:-256}")
  if can_run --device cuda --algo cudnn; then
    algorithms+=(cudnn)
  else
    say "without cudnn: $(cat $out/probe.log)"
  fi
  say "VGG-19 on the CPU, for comparison"
  $vgg19 "${size[@]}" "${result[@]}"
  result=(--check "$out/vgg19.output")
else
  size=()
  [ -z "${SIZE:-}" ] || size=(--size "$SIZE")
fi

traces=()
for algo in "${algorithms[@]}"; do
  trace=$out/vgg19-$algo.mled
  say "VGG-19, $algo convolution"
  $memledger run -q -f -o "$trace" -- \
    $vgg19 --device "$device" --algo "$algo" "${size[@]}" "${result[@]}"
  traces+=("$trace")
  result=(--check "$out/vgg19.output")
done

echo
$memledger compare "${traces[@]}"
$memledger plot -f "${traces[@]}" -o $out/vgg19.svg

cat <<END

The ${#traces[@]} curves in one picture: $out/vgg19.svg
The traces:                  $out/vgg19-*.mled

Next:
    $memledger summary $out/vgg19-fft.mled
    $memledger run --heap -- YOUR-PROGRAM ITS-ARGUMENTS
END
