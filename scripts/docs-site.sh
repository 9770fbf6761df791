#!/bin/sh
# Builds the site of the documentation: target/docs-site/html/index.html, from docs/ as it is. Warnings are errors, so that a
# link to a page or a heading that is not there ends the build.
#
#   scripts/docs-site.sh
#
# Needs Python 3.11; Sphinx and its theme come from PyPI (docs/requirements.txt) into target/docs-site/python, once.
set -eu

cd "$(dirname "$0")/.."
root=$PWD
site=${CARGO_TARGET_DIR:-target}/docs-site
mkdir -p "$site"
site=$(cd "$site" && pwd)

if [ "$(cat "$site/python/complete" 2>/dev/null)" != "$(cat docs/requirements.txt)" ]; then
    echo "docs-site: fetching Sphinx from PyPI"
    rm -rf "$site/python"
    python3 -m venv "$site/python"
    "$site/python/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: -r docs/requirements.txt
    cp docs/requirements.txt "$site/python/complete"
fi

# A copy, beside what its pages link to: pages are added to it.
rm -rf "$site/source" "$site/html"
mkdir "$site/source"
cp -R docs "$site/source/docs"
for entry in *; do
    case $entry in docs | target | out) ;; *) ln -s "$root/$entry" "$site/source/$entry" ;; esac
done
"$site/python/bin/python" -m sphinx --fail-on-warning --keep-going --quiet -b html -d "$site/doctrees" \
    "$site/source/docs" "$site/html"
echo "docs-site: $site/html/index.html"
