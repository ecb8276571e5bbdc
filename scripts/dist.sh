#!/bin/bash
# dist.sh: one tarball that runs on any x86-64 Linux with glibc 2.28 or later.
#
# zig's C compiler includes the symbol lists of old glibc versions, so nothing newer than the
# one named below can be linked. The other libraries come from the distribution's static archives;
# the compiler sees only their headers, because the rest of /usr/include belongs to another glibc.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

glibc=2.28
work=$root/build/dist
venv=$root/build/venv-dist

say "tools"
venv "$venv" scripts/requirements-dist.txt
meson=$venv/bin/meson
with_npm
export ZIG_GLOBAL_CACHE_DIR=$work/zig-cache ZIG_LOCAL_CACHE_DIR=$work/zig-cache

say "static libraries"
deps=$work/deps
rm -rf "$deps" "$work/build" "$work/stage"
mkdir -p "$deps/include" "$deps/lib/pkgconfig"
# stage_library PACKAGE NAME NEEDED HEADER...: pkg-config's name, the library's name without
# lib, and the packages that it needs.
stage_library() {
  local package=$1 name=$2 needed=$3 libdir="" incdir=/usr/include version=0
  shift 3
  # libiberty has no file for pkg-config, nor has Debian 12's bzip2.
  if pkg-config --exists "$package"; then
    libdir=$(pkg-config --variable=libdir "$package")
    incdir=$(pkg-config --variable=includedir "$package")
    version=$(pkg-config --modversion "$package")
  fi
  # Debian's zstd says /usr/lib, but is one folder deeper.
  [ -f "$libdir/lib$name.a" ] || libdir=/usr/lib/x86_64-linux-gnu
  # src/base/archive_streams.c explains these names.
  objcopy --redefine-sym stdin=ml_archive_stdin --redefine-sym stdout=ml_archive_stdout \
    --redefine-sym stderr=ml_archive_stderr "$libdir/lib$name.a" "$deps/lib/lib$name.a"
  for header; do
    if [ -f "$incdir/$header" ]; then install -D -m 644 "$incdir/$header" "$deps/include/$header"; fi
  done
  cat >"$deps/lib/pkgconfig/$package.pc" <<END
libdir=$deps/lib
Name: $name
Description: static $name
Version: $version
Requires.private: $needed
Libs: -L$deps/lib -l$name
Cflags: -I$deps/include
END
}
stage_library libzstd zstd "" zstd.h zstd_errors.h
stage_library libxxhash xxhash "" xxhash.h xxh3.h
stage_library zlib z "" zlib.h zconf.h
stage_library liblz4 lz4 "" lz4.h lz4frame.h
stage_library sqlite3 sqlite3 "" sqlite3.h
# src/serve/no_tls.c explains why GnuTLS is left out.
stage_library libmicrohttpd microhttpd "" microhttpd.h
private_needs() { pkg-config --print-requires-private "$1" | cut -d' ' -f1 | xargs; }
stage_library libelf elf "$(private_needs libelf)" libelf.h gelf.h
stage_library bzip2 bz2 ""
stage_library liblzma lzma ""
stage_library libdw dw "libelf bzip2 $(private_needs libdw)" \
  dwarf.h elfutils/libdw.h elfutils/libdwfl.h
stage_library libiberty iberty "" libiberty/demangle.h libiberty/libiberty.h libiberty/ansidecl.h

# Debian keeps one processor-specific header of Python beside glibc's.
pyconfig=$("$python" -c 'import sysconfig as s; print(s.get_config_var("MULTIARCH") or "")')/$(
  "$python" -c 'import os, sysconfig as s; print(os.path.basename(s.get_path("include")))')/pyconfig.h
if [ -f "/usr/include/$pyconfig" ]; then
  install -D -m 644 "/usr/include/$pyconfig" "$deps/include/$pyconfig"
fi

say "build for glibc $glibc"
zig="'$venv/bin/python', '-m', 'ziglang'"
cat >"$work/zig.ini" <<END
[binaries]
c = [$zig, 'cc', '-target', 'x86_64-linux-gnu.$glibc']
ar = [$zig, 'ar']
ranlib = [$zig, 'ranlib']
strip = 'strip'
pkg-config = 'pkg-config'
[built-in options]
c_args = '-I$deps/include'
c_link_args = '-L$deps/lib'
END
export PKG_CONFIG_LIBDIR=$deps/lib/pkgconfig
unset PKG_CONFIG_PATH
"$meson" setup "$work/build" --native-file "$work/zig.ini" --prefix=/ --strip \
  -Dstatic_deps=true -Dpython=enabled -Dtests=disabled -Dexamples=false -Dviewer=enabled
ninja -C "$work/build"

version=$("$meson" introspect "$work/build" --projectinfo |
  "$python" -c 'import json, sys; print(json.load(sys.stdin)["version"])')
name=memledger-$version-linux-x86_64
stage=$work/stage/$name
"$meson" install -C "$work/build" --quiet --destdir "$stage"
# Include the licenses of the linked libraries.
for package in libzstd-dev libxxhash-dev libelf-dev libdw-dev libiberty-dev libbz2-dev liblzma-dev zlib1g-dev \
  liblz4-dev libsqlite3-dev libmicrohttpd-dev; do
  install -D -m 644 "/usr/share/doc/$package/copyright" \
    "$stage/share/doc/memledger/third-party/${package%-dev}.txt"
done

say "check"
scripts/check-glibc.sh $glibc "$stage"

mkdir -p dist
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
tarball=dist/$name.tar.gz
tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$epoch" \
  -C "$work/stage" -c "$name" | gzip -9n >"$tarball"

# Check that the packed program starts from a folder unknown to the build.
try=$(mktemp -d)
trap 'rm -rf "$try"' EXIT
tar -C "$try" -xzf "$tarball"
"$try/$name/bin/memledger" run -q -o "$try/true.mled" -- /bin/true
"$try/$name/bin/memledger" summary "$try/true.mled" >/dev/null
"$python" tests/integration/served_page.py "$try/$name/bin/memledger" "$try/true.mled"
"$python" tests/integration/released_libdw.py "$try/$name/bin/memledger"
"$try/$name/bin/memledger" help sampling | grep -q '^Sampling'
PYTHONPATH=$try/$name/lib/memledger/python "$python" -c '
import memledger, sys
memledger.read(sys.argv[1]).summary()' "$try/true.mled"
say "$tarball ($(du -h "$tarball" | cut -f1))"
