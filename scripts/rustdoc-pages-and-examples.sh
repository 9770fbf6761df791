#!/bin/sh
# What `make test` has `cargo test --doc` call as rustdoc: writes the pages of a crate, warnings are errors, and then runs the
# crate's examples. All that the pages need was built for the tests; `cargo doc` would check every dependency and every
# crate once more.
set -eu

for argument in "$@"; do
    if [ "$argument" = --test ]; then has_examples=yes; fi
done
[ "${has_examples:-}" = yes ] || exec rustdoc "$@"

# The same call without what is about examples.
pages() {
    left=$#
    while [ "$left" -gt 0 ]; do
        case $1 in
        --test) ;;
        --test-run-directory | --test-args | --test-runtool | --test-runtool-arg) shift && left=$((left - 1)) ;;
        --test-* | --no-run | --no-capture | --nocapture) ;;
        *) set -- "$@" "$1" ;;
        esac
        shift && left=$((left - 1))
    done
    rustdoc "$@" -D warnings --out-dir "${CARGO_TARGET_DIR:-target}/doc"
}

pages "$@"
exec rustdoc "$@"
