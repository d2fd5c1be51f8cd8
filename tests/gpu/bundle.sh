#!/usr/bin/env bash
# Copies what the runtime is built with beside CUDA's libraries into a folder that CMAKE_PREFIX_PATH can name:
# CLI11, nlohmann_json (headers), libcrypto and GoogleTest (headers, static libraries).
#
#   tests/gpu/bundle.sh OUT
#
# Reads them where Debian's packages libcli11-dev, nlohmann-json3-dev, libssl-dev and libgtest-dev put them. ROOT names
# another place than /.
set -euo pipefail

(($# == 1)) || {
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
  exit 2
}
out=$1 root=${ROOT:-}
libraries=$root/usr/lib/$(gcc -print-multiarch)

# A folder's or file's copy; what is missing ends the script with a message that names the package.
take() { # package, from, to
  [[ -e $2 ]] || {
    echo "bundle: no '$2': install $1" >&2
    exit 1
  }
  mkdir -p "$out/$3"
  cp -rL "$2" "$out/$3/"
}

take libcli11-dev "$root/usr/include/CLI" include
take libcli11-dev "$root/usr/share/cmake/CLI11" share/cmake
take nlohmann-json3-dev "$root/usr/include/nlohmann" include
take nlohmann-json3-dev "$root/usr/share/cmake/nlohmann_json" share/cmake
take libssl-dev "$root/usr/include/openssl" include
for header in configuration.h opensslconf.h; do
  take libssl-dev "$root/usr/include/$(gcc -print-multiarch)/openssl/$header" include/openssl
done
take libssl-dev "$libraries/libcrypto.a" lib
take libgtest-dev "$root/usr/include/gtest" include
take libgtest-dev "$libraries/libgtest.a" lib
take libgtest-dev "$libraries/libgtest_main.a" lib
