#!/bin/bash
# fresh-root.sh FOLDER [COMMAND...]: run a command, such as `make test`, in a clone of the last commit on a machine of
# which only git, make and the C library are installed: a root in FOLDER, with this machine's distribution.
#
# Makes FOLDER from the distribution's packages if it does not exist. The clone is FOLDER/memledger. Needs root and
# mmdebstrap. Remove FOLDER to start afresh.
set -euo pipefail
# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

folder=${1:?usage: fresh-root.sh FOLDER [COMMAND...]}
shift
[ $# -gt 0 ] || set -- make test
[ "$(id -u)" -eq 0 ] || die "making a root folder and entering it needs root"
command -v mmdebstrap >/dev/null || die "mmdebstrap is missing: apt-get install mmdebstrap"

# How this machine's package managers find their registries, and which certificates they trust.
copy_settings() {
  local file
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    [ ! -f "$file" ] || install -D -m 644 "$file" "$folder$file"
  done
  [ ! -f /root/.npmrc ] || install -m 600 /root/.npmrc "$folder/root/.npmrc" # may have a token
}

# The variables for the same, and those of .ci/run. All others stay outside.
kept_variables() {
  local setting
  while IFS= read -r -d '' setting; do
    case ${setting%%=*} in
    TERM | CI | NO_COLOR | *_proxy | *_PROXY | *CA_BUNDLE | *CA_CERTS | *CAINFO | SSL_CERT_* | PIP_* | npm_config_*)
      variables+=("$setting")
      ;;
    esac
  done < <(env -0)
}

if [ ! -d "$folder" ]; then
  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  sources=(/etc/apt/sources.list.d/*.sources)
  [ -f "${sources[0]}" ] || sources=(/etc/apt/sources.list)
  rm -rf "$folder.part"
  mmdebstrap --quiet --variant=minbase --include=ca-certificates,git,make "$codename" "$folder.part" "${sources[0]}"
  mv "$folder.part" "$folder"
fi
copy_settings
variables=()
kept_variables
rm -rf "$folder/memledger"
git clone -q "$root" "$folder/memledger"

# A mount namespace of its own: what is mounted here goes with the command.
# shellcheck disable=SC2016 # the inner shell expands these
exec unshare --mount --pid --kill-child --propagation private bash -c '
  folder=$1
  shift
  for part in dev sys; do
    mount --rbind "/$part" "$folder/$part"
  done
  mount -t proc proc "$folder/proc"
  exec chroot "$folder" env -i -C /memledger HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
' fresh-root.sh "$folder" "${variables[@]}" "$@"
