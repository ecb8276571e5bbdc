#!/bin/bash
# demo.sh: record VGG-19 with each convolution algorithm and compare them: on the GPU if there
# is one, else on the CPU. DEVICE=cpu or cuda chooses. SIZE=256 is the full input (default on a
# GPU; on a CPU the default finishes in two minutes on 2 cores). BATCH=8 runs eight images.
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
algorithms=(direct im2col fft winograd)
batch=${BATCH:-1}
input=(--batch "$batch")
# The first result, always from the CPU, is kept; all others must equal it.
result=(--output "$out/vgg19.output")
if [ "$device" = cuda ]; then
  can_run --device cuda || die "$(cat $out/probe.log)"
  say "on $(cat $out/probe.log)"
  input+=(--size "${SIZE:-256}")
  if can_run --device cuda --algo cudnn; then
    algorithms+=(cudnn)
  else
    say "without cudnn: $(cat $out/probe.log)"
  fi
  say "VGG-19 on the CPU, for comparison"
  $vgg19 "${input[@]}" "${result[@]}"
  result=(--check "$out/vgg19.output")
else
  [ -z "${SIZE:-}" ] || input+=(--size "$SIZE")
fi

traces=()
for algo in "${algorithms[@]}"; do
  trace=$out/vgg19-$algo.mled
  say "VGG-19, $algo convolution"
  $memledger run -q -f -o "$trace" -- \
    $vgg19 --device "$device" --algo "$algo" "${input[@]}" "${result[@]}"
  traces+=("$trace")
  result=(--check "$out/vgg19.output")
done

pictures=()
# draw NAME ARGUMENT...: the picture twice. PNG needs Cairo, which plot asks for if it is missing.
draw() {
  local name=$1
  shift
  $memledger plot -f -o "$out/$name.svg" "$@"
  pictures+=("$out/$name.svg")
  if $memledger plot -f -o "$out/$name.png" "$@"; then
    pictures+=("$out/$name.png")
  else
    say "without $name.png"
  fi
}

# The picture of HP3's profiler: samples of the memory in use on the GPU, in runs that are only
# sampled. HP3 subtracts the first sample, taken before the program; here the program may be
# faster than the first sample, but the lowest one is without it as well.
draw_samples() {
  local algo samples=()
  for algo in "${algorithms[@]}"; do
    $memledger run -q -f --sample-only -o "$out/memory_$algo.mled" -- \
      $vgg19 --device cuda --algo "$algo" "${input[@]}"
    samples+=("$out/memory_$algo.mled")
  done
  draw GPUMemoryUtilization --baseline min --unit MiB --width 1600 --height 640 \
    --title "GPU Memory Used for one VGG19 Run [Batchsize = $batch]" "${samples[@]}"
}

echo
$memledger compare "${traces[@]}"
draw vgg19 --title "VGG-19, one forward pass, batch $batch" "${traces[@]}"
[ "$device" = cpu ] || draw_samples

cat <<END

The ${#traces[@]} curves in one picture: ${pictures[*]}
The traces:                  $out/vgg19-*.mled

Next:
    $memledger summary $out/vgg19-fft.mled
    $memledger run --heap -- YOUR-PROGRAM ITS-ARGUMENTS
END
