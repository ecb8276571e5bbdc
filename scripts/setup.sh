#!/bin/bash
# setup.sh TARGET: check that this machine has what `make TARGET` needs.
#
# Installs missing packages with apt-get as root or with a sudo that asks no password; otherwise
# prints the command to type. Takes a few milliseconds when nothing is missing.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

target=${1:?usage: setup.sh build|demo|test|test-programs|bench|bench-ranks|install|dist|lint}
missing=()

# need PACKAGE CHECK...: the package is missing when the check fails.
need() {
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}
has() { command -v "$1"; }
has_system() { [ -x "/usr/bin/$1" ] || has "$1"; }
has_in_sbin() { [ -x "/usr/sbin/$1" ] || has "$1"; }
has_postgresql() { compgen -G '/usr/lib/postgresql/*/bin/initdb'; }
has_library() { pkg-config --exists "$1"; }
has_shared_object() { PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -F "$1"; }
has_module() { "$python" -c "import importlib.util as u; exit(not u.find_spec('$1'))"; }
has_python_headers() {
  "$python" -c 'import os, sysconfig as s; exit(not os.path.exists(s.get_path("include") + "/Python.h"))'
}
# Compilers may be several words, such as "ccache gcc".
compiles() {
  local -a compiler
  read -ra compiler <<<"$1"
  echo "$2" | "${compiler[@]}" -E -x "$3" -
}

need_compiler() {
  local cc=${CC:-cc}
  need gcc has "${cc%% *}"
  need libc6-dev compiles "$cc" '#include <stdlib.h>' c
  need meson has_system meson
  need ninja-build has ninja
  need pkg-config has pkg-config
  need libzstd-dev has_library libzstd
  need libxxhash-dev has_library libxxhash
  need libelf-dev has_library libelf
  # For source lines and readable names in native stacks.
  need libdw-dev has_library libdw
  need libiberty-dev compiles "$cc" '#include <libiberty/demangle.h>' c
  need zlib1g-dev has_library zlib
  # For files of memray.
  need liblz4-dev has_library liblz4
  need libsqlite3-dev has_library sqlite3
  # For memledger view.
  need libmicrohttpd-dev has_library libmicrohttpd
  # For the Python package's extension, which records the names of PyTorch's modules.
  need python3-dev has_python_headers
}
need_venv() {
  need python3 has_system python3
  need python3-venv "$python" -c 'import venv, ensurepip'
}

case $target in
build | demo | install)
  need_compiler
  ;;
test)
  need_compiler
  need g++ compiles c++ '#include <cstdlib>' c++
  need libcmocka-dev has_library cmocka
  need binutils has nm
  need_venv
  # Programs and libraries that the tests record or compare with.
  need git has git
  need sqlite3 has sqlite3
  need heaptrack has heaptrack
  need debuginfod has debuginfod
  need libunwind-dev has_library libunwind
  need libjemalloc2 has_shared_object libjemalloc.so.2
  need libtcmalloc-minimal4 has_shared_object libtcmalloc_minimal.so.4
  need python3-torch has_module torch
  # Gets Python 3.14, which memledger attaches to in its own way (tests/integration/maven_python.py).
  need maven has mvn
  # Scrapes memledger metrics.
  need prometheus has prometheus
  # A server under load while memledger attaches to it.
  need redis-server has redis-server
  need redis-tools has redis-benchmark
  # A terminal for memledger live.
  need tmux has tmux
  # Starts ranks.
  need openmpi-bin has mpirun
  # Reads the Helm chart.
  need python3-yaml has_module yaml
  # Show the page of memledger view.
  need chromium has chromium
  need firefox-esr has firefox-esr
  # Opened at run time to draw PNG and PDF.
  need libcairo2 has_shared_object libcairo.so.2
  ;;
test-programs)
  need_compiler
  need python3 has_system python3
  need postgresql has_postgresql
  need redis-server has redis-server
  need redis-tools has redis-benchmark
  need nginx-light has_in_sbin nginx
  need memcached has memcached
  need nodejs has node
  need default-jdk-headless has javac
  need ruby has ruby
  need php-cli has php
  need guile-3.0 has guile
  need lua5.4 has lua5.4
  need erlang-base has erl
  need sbcl has sbcl
  need ghostscript has gs
  need g++ has g++
  need chromium has chromium
  need chromium-sandbox [ -x /usr/lib/chromium/chrome-sandbox ]
  need util-linux has setpriv
  # Programs that once hung under memledger.
  need curl has curl
  need wget has wget
  need gnupg has gpg
  need procps has ps
  ;;
bench)
  need_compiler
  need heaptrack has heaptrack
  # heaptrack compresses with it if present, else with gzip, which is slower.
  need zstd has zstd
  # Programs whose counts are compared with heaptrack's, and that are slowed down.
  need git has git
  need sqlite3 has sqlite3
  need g++ has g++
  need redis-server has redis-server
  need redis-tools has redis-benchmark
  need postgresql has_postgresql
  need python3-torch has_module torch
  # Shows the page of memledger view.
  need chromium has chromium
  need_venv
  ;;
bench-ranks)
  need_compiler
  need_venv
  # Spark's.
  need default-jre-headless has java
  ;;
dist)
  need_compiler
  need binutils has objcopy
  # libdw's archive refers to both.
  need libbz2-dev compiles "${CC:-cc}" '#include <bzlib.h>' c
  need liblzma-dev has_library liblzma
  need_venv
  ;;
lint)
  need_compiler
  need clang-format has clang-format
  need clang-tidy has clang-tidy
  need shellcheck has shellcheck
  ;;
*)
  die "unknown target '$target'; known: build demo test test-programs bench bench-ranks install dist lint"
  ;;
esac

[ ${#missing[@]} -gt 0 ] || exit 0

# Without duplicates: two checks can need the same package.
mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
say "make $target needs: ${missing[*]}"

# If packages are still missing right after an installation, apt cannot help.
if [ "${MEMLEDGER_SETUP_AGAIN:-}" = yes ]; then
  die "installed, but still not found: ${missing[*]}"
fi
if ! command -v apt-get >/dev/null; then
  die "no apt-get here; install the counterparts of these Debian packages: ${missing[*]}"
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
  else
    {
      echo "Installing packages needs root. Type this, then make $target again:"
      echo
      echo "    sudo apt-get update && sudo apt-get install -y ${missing[*]}"
      echo
    } >&2
    exit 1
  fi
fi

apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q \
    -o DPkg::Lock::Timeout=120 "$@" </dev/null
}
# Packages of servers would start them. The tests start their own.
without_services() (
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" install -m 755 /dev/stdin "$policy"
  fi
  "$@"
)
apt update
without_services apt install -y --no-install-recommends "${missing[@]}"
MEMLEDGER_SETUP_AGAIN=yes exec "$0" "$target"
