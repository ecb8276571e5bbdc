#!/bin/bash
# test-versions.sh [PYTHON:PYTORCH...]: run the tests of PyTorch with other versions of both.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

exec "$python" tests/versions/run.py build "$@"
