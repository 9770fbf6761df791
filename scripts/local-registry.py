#!/usr/bin/env python3
"""A registry in a folder: our packages, as `cargo package` made them, and all that they need, from cargo's own store.

    python3 scripts/local-registry.py target/package target/registry

The folder has the form of a local registry (https://doc.rust-lang.org/cargo/reference/source-replacement.html), which cargo takes in
place of crates.io: each package as a .crate, and in `index` a line about it. Nothing is fetched.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path


def main(packed, registry):
    """Makes the registry anew."""
    root = Path(__file__).resolve().parent.parent
    command = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1", "--all-features"]
    found = json.loads(subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout)
    stores = sorted((cargo_home() / "registry/cache").glob("*"))
    shutil.rmtree(registry, ignore_errors=True)
    registry.mkdir(parents=True)
    own, others, missing = 0, 0, []
    for package in found["packages"]:
        file = f"{package['name']}-{package['version']}.crate"
        if package["source"] is None:
            if package["publish"] == []:
                continue
            places = [packed / file]
        else:
            places = [store / file for store in stores]
        place = next((place for place in places if place.is_file()), None)
        if place is None:
            # What other platforms need is in the index alone: nobody here asks for it.
            missing.append(file)
            if package["source"] is None:
                sys.exit(f"local-registry: {places[0]} is missing; run cargo package")
        else:
            shutil.copyfile(place, registry / file)
        own, others = own + (package["source"] is None), others + (package["source"] is not None)
        path = registry / "index" / index_path(package["name"])
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as index:
            index.write(json.dumps(line(package, place)) + "\n")
    print(f"local-registry: {registry}: {own} packages of ours, {others} others, of which {len(missing)} are not at hand")


def cargo_home():
    return Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")


def index_path(name):
    """Where the index has a package."""
    name = name.lower()
    if len(name) < 3:
        return f"{len(name)}/{name}"
    return f"3/{name[0]}/{name}" if len(name) == 3 else f"{name[:2]}/{name[2:4]}/{name}"


def line(package, place):
    """What the index says of a package (https://doc.rust-lang.org/cargo/reference/registry-index.html)."""
    return {
        "name": package["name"],
        "vers": package["version"],
        # `cargo package` leaves out what has no version: our own packages that tests of others need.
        "deps": [dependency(one) for one in package["dependencies"] if one["kind"] != "dev" or one["req"] != "*"],
        "cksum": hashlib.sha256(place.read_bytes()).hexdigest() if place else "0" * 64,
        "features": package["features"],
        "yanked": False,
        "links": package["links"],
        "rust_version": package["rust_version"],
        "v": 2,
    }


def dependency(one):
    renamed = {"name": one["rename"], "package": one["name"]} if one["rename"] else {"name": one["name"]}
    return renamed | {
        "req": one["req"],
        "features": one["features"],
        "optional": one["optional"],
        "default_features": one["uses_default_features"],
        "target": one["target"],
        "kind": one["kind"] or "normal",
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
