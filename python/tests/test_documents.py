"""What the pages show works: their blocks of Python and of C, and the scripts of the gallery, whose pictures are compared."""

import contextlib
import importlib.util
import io
import os
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
GALLERY = ROOT / "docs/gallery"
PICTURES = ROOT / "docs/images/gallery"
# Proofs about several statements take seconds where isl's caller is not optimised; `make test-long` runs them.
LONG = {"blur", "double_slit", "gray_scott", "life", "potential", "separation", "shallow_water", "spiral", "c_program"}


def load(path):
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BLOCKS = load(ROOT / "scripts/blocks.py").blocks


@contextlib.contextmanager
def folder():
    """A current folder of one's own."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as own:
        os.chdir(own)
        try:
            yield Path(own)
        finally:
            os.chdir(before)


def with_command(own):
    """An environment in which `tilewright` is this package's command."""
    (own / "bin").mkdir()
    command = own / "bin/tilewright"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tilewright "$@"\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    return os.environ | {"PATH": f"{own / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def on_device(library):
    """Whether there is a library of arrays on a device, and a device."""
    try:
        module = importlib.import_module(library)
        return bool(module.cuda.is_available())
    except ImportError:
        return False


class Pages(unittest.TestCase):
    def test_python_blocks_run(self):
        pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/howto").glob("*.md"))]
        seen = 0
        for page in pages:
            found = BLOCKS("python", page.read_text())
            seen += len(found)
            names = {"__name__": page.stem}
            for begin, block in found:
                devices = [name for name in ("cupy", "torch") if f"import {name}\n" in block]
                if not all(on_device(name) for name in devices):
                    continue
                with self.subTest(f"{page.relative_to(ROOT)}:{begin}"), folder() as own:
                    # A function's source is read from its file.
                    path = own / f"{page.stem}{begin}.py"
                    path.write_text("\n" * (begin - 1) + block)
                    with contextlib.redirect_stdout(io.StringIO()) as said:
                        exec(compile(path.read_text(), str(path), "exec"), names)
                    if "print(error)" in block and "wrong" in block:
                        self.assertIn("error[TW", said.getvalue())
        self.assertGreater(seen, 20)

    def test_the_program_of_the_c_interface_runs(self):
        text = (ROOT / "docs/c-interface.md").read_text()
        ((_, program),) = BLOCKS("c", text)
        ((_, build),) = BLOCKS("sh", text)
        with folder() as own:
            environment = with_command(own)
            (own / "plate.c").write_text(program)
            command = re.search(r"^tilewright compile .*$", text, re.M)[0]
            script = f"set -e\n{command} >log\n{build}\n./plate\n"
            said = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, text=True)
            self.assertEqual((said.returncode, said.stderr), (0, ""))
        u = np.zeros((200, 300), np.float32)
        u[100, 150] = 1
        import tilewright

        wanted = tilewright.stencil("heat2d").run(u, steps=50, backend="reference")[100, 150]
        self.assertEqual(said.stdout, f"{wanted:.6f}\n")

    def test_the_site_finds_all_pages_and_files(self):
        # What ends the build of the site: a page that no list has, and a link to a folder.
        index = (ROOT / "docs/index.md").read_text()
        listed = {line for block in re.findall(r"```\{toctree\}\n(.*?)```", index, re.S) for line in block.splitlines()}
        docs = ROOT / "docs"
        for page in [*docs.glob("*.md"), *docs.glob("howto/*.md")]:
            name = str(page.relative_to(docs).with_suffix(""))
            self.assertTrue(name in listed or name == "index", f"{page} is in no list of docs/index.md")
        for page in docs.rglob("*.md"):
            prose = re.sub(r"^```.*?^```|`[^`\n]*`", "code", page.read_text(), flags=re.S | re.M)
            for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", prose):
                self.assertTrue((page.parent / link).is_file() or link == "examples.md", f"{page.relative_to(ROOT)}: {link}")

    def test_every_fence_is_in_a_language_that_is_run_or_shown(self):
        # `toml`, `json`, `lua`, `rust`, `cpp`, `cuda` have tests of their own, or are read by others.
        known = {"", "text", "python", "sh", "c", "toml", "json", "lua", "rust", "cpp", "cuda", "{toctree}"}
        for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
            fences = [line[3:].strip() for line in page.read_text().splitlines() if line.startswith("```")]
            self.assertLessEqual(set(fences), known, page)


class Gallery(unittest.TestCase):
    def scripts(self):
        """All examples."""
        return [path for path in sorted(GALLERY.iterdir()) if path.suffix in (".py", ".sh") and path.stem != "picture"]

    def test_the_page_lists_every_example_once(self):
        page = (GALLERY / "README.md").read_text()
        for path in self.scripts():
            title = path.read_text().split("\n")[0 if path.suffix == ".py" else 1].lstrip('"# ')
            self.assertEqual(page.count(f"| [{title}]({path.name}) |"), 1, path.name)
        self.assertEqual(page.count("\n| ["), len(self.scripts()))
        self.assertGreater(len(self.scripts()), 12)

    def test_examples_run_and_make_their_pictures(self):
        for path in self.scripts():
            if path.stem in LONG and not os.environ.get("TILEWRIGHT_ALL"):
                continue
            with self.subTest(path.name), folder() as own:
                interpreter = sys.executable if path.suffix == ".py" else "sh"
                said = subprocess.run([interpreter, path], env=with_command(own), capture_output=True, text=True)
                self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
                for end in (".png", ".svg"):
                    kept, made = PICTURES / (path.stem + end), own / (path.stem + end)
                    self.assertEqual(kept.exists(), made.exists(), kept)
                    if kept.exists() and os.environ.get("BLESS") == "1":
                        shutil.copy(made, kept)
                if (PICTURES / f"{path.stem}.png").exists():
                    kept, made = pixels(PICTURES / f"{path.stem}.png"), pixels(own / f"{path.stem}.png")
                    self.assertEqual(kept[0], made[0])
                    # Libraries of C differ in the last bits of some functions.
                    self.assertLess((kept[1] != made[1]).mean(), 0.01)


def pixels(path):
    """Size and bytes of a picture as `picture.py` writes it: packings of the same pixels differ."""
    data = path.read_bytes()
    at, parts = 8, {}
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        parts[data[at + 4 : at + 8]] = data[at + 8 : at + 8 + length]
        at += 12 + length
    return parts[b"IHDR"][:8], np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8)


class Release(unittest.TestCase):
    def test_the_bill_of_materials_names_what_is_compiled_in(self):
        import json

        said = subprocess.run(
            [sys.executable, ROOT / "scripts/sbom.py", "tilewright", "x86_64-unknown-linux-gnu"], capture_output=True, text=True
        )
        if "offline" in said.stderr or "download" in said.stderr:
            self.skipTest("cargo does not know the packages of this platform")
        self.assertEqual(said.returncode, 0, said.stderr)
        found = json.loads(said.stdout)
        names = {one["name"] for one in found["components"]}
        self.assertLessEqual({"isl", "sqlite", "tilewright-polyhedral", "clap", "isl-rs"}, names)
        self.assertFalse({"proptest", "syn", "serde_derive", "clap_derive", "tempfile-macro"} & names)
        references = {one["bom-ref"] for one in found["components"]} | {found["metadata"]["component"]["bom-ref"]}
        self.assertEqual(len(references), len(found["components"]) + 1)
        for dependency in found["dependencies"]:
            self.assertLessEqual({dependency["ref"], *dependency["dependsOn"]}, references)

    def test_a_registry_in_a_folder_is_one_that_cargo_reads(self):
        own = load(ROOT / "scripts/local-registry.py")
        for name, path in [("a", "1/a"), ("cc", "2/cc"), ("Syn", "3/s/syn"), ("tilewright", "ti/le/tilewright")]:
            self.assertEqual(own.index_path(name), path)
        plain = {"name": "clap", "rename": None, "req": "^4", "features": ["derive"], "optional": False, "target": None, "kind": None}
        plain["uses_default_features"] = True
        tested = plain | {"name": "tilewright-tuner", "rename": "tuner", "req": "*", "kind": "dev"}
        package = {"name": "x", "version": "1.0.0", "features": {}, "links": None, "rust_version": "1.88"}
        found = own.line(package | {"dependencies": [plain, tested, tested | {"req": "^1"}]}, None)
        self.assertEqual([(one["name"], one.get("package"), one["kind"]) for one in found["deps"]],
                         [("clap", None, "normal"), ("tuner", "tilewright-tuner", "dev")])  # fmt: skip

    def test_workflows_call_scripts_that_are_there_and_pin_actions(self):
        for path in (ROOT / ".github/workflows").glob("*.yml"):
            text = path.read_text()
            for used in re.findall(r"^ *-? *uses: (.*)$", text, re.M):
                self.assertRegex(used, r"@[0-9a-f]{40} # v[0-9.]+$", path.name)
            for script in re.findall(r"scripts/[a-z-]+\.(?:sh|py)", text):
                self.assertTrue(os.access(ROOT / script, os.X_OK), f"{path.name}: {script}")

    def test_licences_are_those_that_the_tests_allow(self):
        import tomllib

        allowed = tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"]
        test = (ROOT / "tests/tests/architecture/licenses.rs").read_text()
        listed = re.findall(r'"(.*?)"', test.split("const ALLOWED: &[&str] = &[")[1].split("];")[0])
        self.assertEqual(allowed, listed)


if __name__ == "__main__":
    unittest.main()
