#!/bin/bash
# test-gpu.sh [CHECK...]: the tests that need a machine with an NVIDIA GPU.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

nvidia-smi -L >/dev/null 2>&1 ||
  die 'no NVIDIA GPU here (nvidia-smi -L fails); make test needs none'
# The interpreter of the active environment, which has the frameworks.
exec python3 tests/gpu/check.py --memledger build/src/cli/memledger \
  --vgg19 build/examples/vgg19/vgg19 --folder build/gpu "$@"
