#!/bin/sh
# Installs what Tilewright's build and tests need besides Rust and a C compiler, where it is missing.
#
#   scripts/setup.sh            install what is missing
#   scripts/setup.sh --check    only say what is missing; exit code 1 if anything is
#
# autoconf, automake, libtool, m4, perl and make build isl, the integer set library inside the isl-rs crate.
# The C++ compiler builds the CUDA emulator. NVRTC, NVIDIA's run-time compiler, which some tests use where it is
# there, is not fetched here but by scripts/get-nvrtc.sh.
set -eu

cd "$(dirname "$0")/.."
check_only=0
case "${1:-}" in
    '') ;;
    --check) check_only=1 ;;
    *) echo "usage: scripts/setup.sh [--check]" >&2; exit 2 ;;
esac

say() { echo "setup: $*"; }
fail() { echo "setup: $*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Whether `$1 $2...` turns standard input into a program: a compiler may be there without its headers.
compiles() { "$@" -o "$scratch/program" - >/dev/null 2>&1; }
c_works() { have "${CC:-cc}" && echo '#include <stdio.h>
int main(void) { return puts("") < 0; }' | compiles "${CC:-cc}" -x c; }
cxx_works() { have "${CXX:-c++}" && echo '#include <vector>
int main() { return (int)std::vector<int>().size(); }' | compiles "${CXX:-c++}" -x c++; }

# What is missing, by the names that missing_packages() knows.
find_missing() {
    missing=
    c_works || missing="$missing cc"
    cxx_works || missing="$missing c++"
    have make || missing="$missing make"
    have autoreconf || missing="$missing autoconf"
    have aclocal || missing="$missing automake"
    have libtoolize || have glibtoolize || missing="$missing libtool"
    have m4 || have gm4 || missing="$missing m4"
    have perl || missing="$missing perl"
}

# The first package manager that is there.
find_manager() {
    manager=
    for candidate in apt-get dnf yum pacman zypper apk brew; do
        if have "$candidate"; then manager=$candidate; return; fi
    done
}

# The packages of this manager that hold what is missing.
missing_packages() {
    packages=
    for tool in $missing; do
        case "$manager:$tool" in
            apt-get:cc) tool="gcc libc6-dev" ;;
            apk:cc) tool="gcc musl-dev" ;;
            pacman:c++) tool=gcc ;;
            apt-get:c++ | apk:c++) tool=g++ ;;
            dnf:c++ | yum:c++ | zypper:c++) tool=gcc-c++ ;;
                *:cc) tool=gcc ;;
        esac
        packages="$packages $tool"
    done
    packages=$(echo "$packages" | tr -s ' ' | sed 's/^ //; s/ $//')
}

install_command() {
    case "$manager" in
        apt-get) echo "apt-get install -y --no-install-recommends $packages" ;;
        dnf | yum) echo "$manager install -y $packages" ;;
        pacman) echo "pacman -S --needed --noconfirm $packages" ;;
        zypper) echo "zypper --non-interactive install $packages" ;;
        apk) echo "apk add $packages" ;;
        brew) echo "brew install $packages" ;;
    esac
}

install_packages() {
    as_root=
    if [ "$manager" != brew ] && [ "$(id -u)" != 0 ]; then
        if have sudo && sudo -n true 2>/dev/null; then
            as_root="sudo -n"
        else
            fail "missing:$missing; run 'sudo $(install_command)' (this script needs root or passwordless sudo for that), then again"
        fi
    fi
    say "missing:$missing; running: ${as_root:+sudo }$(install_command)"
    if [ "$manager" = apt-get ]; then
        # The lists of packages of a fresh machine may be old or missing.
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq >"$scratch/log" 2>&1 ||
            say "apt-get update failed; going on with the lists that are there"
    fi
    # shellcheck disable=SC2046 # the words of the command
    $as_root env DEBIAN_FRONTEND=noninteractive $(install_command) >"$scratch/log" 2>&1 || {
        tail -n 20 "$scratch/log" >&2
        fail "could not install: $packages (the lines above are from $manager)"
    }
}

# Rust: the toolchain itself is the user's to install.
have cargo || fail "missing: cargo; install Rust 1.88 or later from https://rustup.rs"
release=$(rustc --version | sed 's/^rustc \([0-9]*\)\.\([0-9]*\).*/\1 \2/')
# shellcheck disable=SC2086 # two numbers
set -- $release
[ "$1" -gt 1 ] || [ "$2" -ge 88 ] || fail "Rust $1.$2 is too old: 1.88 or later is needed (rustup update)"

find_missing
if [ -n "$missing" ]; then
    find_manager
    missing_packages
    if [ "$check_only" = 1 ]; then
        fail "missing:$missing${manager:+ (packages of $manager: $packages)}"
    fi
    [ -n "$manager" ] || fail "missing:$missing; install them (no package manager that this script knows was found)"
    case "$manager:$missing " in
        brew:*" cc "* | brew:*" c++ "* | brew:*" make "*) fail "missing:$missing; run 'xcode-select --install', then again" ;;
    esac
    install_packages
    find_missing
    [ -z "$missing" ] || fail "still missing after the installation:$missing"
fi

# The formatter and the linter, where rustup can add them.
for component in rustfmt clippy; do
    tool=$component
    [ "$component" = rustfmt ] || tool=cargo-clippy
    if ! "$tool" --version >/dev/null 2>&1 && [ "$check_only" = 0 ] && have rustup; then
        say "adding the Rust component $component"
        rustup component add "$component" >"$scratch/log" 2>&1 || say "could not add $component"
    fi
done

# CMake, with which a test builds what `tilewright compile` writes. Without it that test says that it is skipped.
if [ "${CI:-}" = true ] && [ "$check_only" = 0 ] && ! have cmake; then
    find_manager
    packages=cmake missing=" cmake"
    [ -z "$manager" ] || (install_packages) || say "going on without cmake"
fi

# An MPI, for the tests of ranks. Without one they say that they are skipped, and only CI insists on it.
if [ "${CI:-}" = true ] && [ "$check_only" = 0 ] && ! have mpicc; then
    find_manager
    if [ "$manager" = apt-get ]; then
        packages="libopenmpi-dev openmpi-bin" missing=" mpicc"
        (install_packages) || say "could not install an MPI"
    fi
fi

# A Redis server, for the tests of trials that a team shares. Without one they say that they are skipped, and only CI insists on it.
if [ "${CI:-}" = true ] && [ "$check_only" = 0 ] && ! have redis-server; then
    find_manager
    if [ "$manager" = apt-get ]; then
        packages=redis-server missing=" redis-server"
        (install_packages) || say "could not install redis-server"
    fi
fi

# A headless browser, for the test that opens a report. Without one the test says that it is skipped, and only CI
# insists on it; TW_BROWSER=0 does without there, too.
if [ "${CI:-}" = true ] && [ "${TW_BROWSER:-1}" != 0 ] && [ "$check_only" = 0 ] && ! have chromium && ! have google-chrome; then
    find_manager
    if [ "$manager" = apt-get ]; then
        packages=chromium missing=" chromium"
        # A failure is not the build's: the test will say what is missing.
        (install_packages) || say "could not install chromium"
    fi
fi

say "everything that the build needs is there"
