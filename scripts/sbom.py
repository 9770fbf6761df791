#!/usr/bin/env python3
"""The bill of materials of a package, as CycloneDX 1.5 in JSON on stdout: what `cargo metadata` says is compiled into it.

    python3 scripts/sbom.py tilewright x86_64-unknown-linux-gnu

Build scripts and macros are left out, and what only tests need. The same lock file gives the same text.
"""

import json
import subprocess
import sys
from pathlib import Path

# Libraries in C that come inside a crate: name, version, licence.
INSIDE = {
    "isl-rs": [("isl", "0.27", "MIT"), ("imath", None, "MIT")],
    "libsqlite3-sys": [("sqlite", None, "blessing")],
}


def main(package, target):
    """Prints the bill of materials of a package of the workspace."""
    root = Path(__file__).resolve().parent.parent
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    found = json.loads(subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout)
    packages = {one["id"]: one for one in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    start = next(one["id"] for one in found["packages"] if one["name"] == package and one["source"] is None)
    needs, waiting = {}, [start]
    while waiting:
        own = waiting.pop()
        if own in needs:
            continue
        linked = [
            dependency["pkg"]
            for dependency in nodes[own]["deps"]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]) and not is_macro(packages[dependency["pkg"]])
        ]
        needs[own] = sorted(linked)
        waiting += linked
    order = sorted(needs, key=lambda own: (packages[own]["name"], packages[own]["version"]))
    components = []
    for own in order:
        components += [component(packages[own])] if own != start else []
        for name, version, licence in INSIDE.get(packages[own]["name"], []):
            inside = {"type": "library", "name": name, "bom-ref": f"{reference(packages[own])}#{name}"}
            inside |= {"version": version} if version else {}
            components.append(inside | {"licenses": [{"license": {"id": licence}}]})
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {**component(packages[start]), "type": "application"}},
        "components": components,
        "dependencies": [
            {"ref": reference(packages[own]), "dependsOn": [reference(packages[one]) for one in needs[own]]} for own in order
        ],
    }
    print(json.dumps(document, indent=1))


def is_macro(package):
    """Whether a package runs in the compiler alone."""
    return any("proc-macro" in target["kind"] for target in package["targets"])


def reference(package):
    """The package URL."""
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package):
    """A package as CycloneDX has it."""
    licence = package["license"]
    licences = [{"expression": licence.replace("/", " OR ")}] if licence else []
    return {
        "type": "library",
        "name": package["name"],
        "version": package["version"],
        "bom-ref": reference(package),
        "purl": reference(package),
        "licenses": licences,
    }


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
