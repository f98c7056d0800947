# shellcheck shell=bash
# Sourced by ./quickstart, ./check and .ci/run: install Debian packages, only those that lack.

# install_missing PACKAGE …
install_missing() {
    local package missing=() as_root=()
    if ! command -v dpkg-query > /dev/null; then
        echo "not a Debian system: these packages, or what they are called here, must be there: $*" >&2
        return 0
    fi
    for package in "$@"; do
        # shellcheck disable=SC2016 # the format is dpkg-query's
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null)" = installed ] || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    echo "installing: ${missing[*]}"
    [ "$(id -u)" = 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -qq &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
}

BUILD_PACKAGES=(gcc libc6-dev cmake ninja-build pkg-config libsqlite3-dev libjansson-dev zlib1g-dev)
# shellcheck disable=SC2034 # used by the scripts that source this
TEST_PACKAGES=("${BUILD_PACKAGES[@]}" libcmocka-dev python3)
