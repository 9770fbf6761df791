"""The command `tilewright` in a process of its own, so that Ctrl-C ends it at once and nothing of it stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from numbers import Integral
from pathlib import Path
from typing import Any, TypeVar

from ._display import Drawing
from ._reports import Report
from .errors import Internal, WrongInput, of_kind

Found = TypeVar("Found", bound=Report)


def command(name: str, *positional: Any, **options: Any) -> Report:
    """Runs `tilewright NAME POSITIONAL... --OPTION VALUE...` and returns its JSON document.

    Underscores of options are hyphens; `True` is an option without a value, `False` and `None` leave it out; a list gives
    it several times; a tuple of integers is a size, one of others a list with commas, a mapping `name=value` pairs. Stencils, programs, results of searches and
    frames of pandas are passed as files.
    """
    if not isinstance(name, str) or not name or name.startswith("-"):
        raise WrongInput(f"{name!r} is no command", ("`tilewright --help` lists them",))
    with tempfile.TemporaryDirectory() as folder:
        words = [name]
        for given in positional:
            word = _word(given, folder)
            if word.startswith("-"):
                raise WrongInput(f"{word!r} would be an option of the command", (f"name a file ./{word}",))
            words.append(word)
        for key, value in options.items():
            option = "--" + key.rstrip("_").replace("_", "-")
            if option in ("--json", "--help", "--version"):
                raise WrongInput(f"{key} is for the terminal")
            for one in value if isinstance(value, list) else [value]:
                if one is True:
                    words.append(option)
                elif one is not None and one is not False:
                    # In one word, so that no value is taken for an option.
                    words.append(f"{option}={_word(one, folder)}")
        if any("\0" in word for word in words):
            raise WrongInput("no argument of a command can have a zero byte")
        return _run([*words, "--json"])


def drawn(kind: type[Found], name: str, *positional: Any, **options: Any) -> Found:
    """What a command found, with what it draws, where the caller wants no file of it."""
    if options.get("svg") is not None:
        return kind(command(name, *positional, **options).to_dict())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drawing.svg"
        data = command(name, *positional, **{**options, "svg": path}).to_dict()
        # As if nobody had asked for the file.
        if "svg" in data:
            data["svg"] = None
        if "written" in data:
            data["written"] = [one for one in data["written"] if one != str(path)]
        drawing = Drawing(path.read_text(encoding="utf-8")) if path.exists() else None
    return kind(data, drawing)


def draw(name: str, *positional: Any, **options: Any) -> Drawing:
    """What the command `name` draws with `--svg`: `analyze` the tiles, `predict` where the time goes, `explain` a tree, `pareto` a
    front; arguments are those of the command.

        tilewright.draw("analyze", "heat1d", tile="st=4,s0=6")
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drawing.svg"
        command(name, *positional, **options, svg=path)
        return Drawing(path.read_text(encoding="utf-8"))


def _word(value: Any, folder: str) -> str:
    # Objects of this package that the command knows by a name, or reads from a file.
    as_file = getattr(type(value), "_file_in", None)
    if as_file is not None:
        return str(as_file(value, folder))
    if hasattr(value, "to_csv"):
        path = Path(folder) / "frame.csv"
        value.to_csv(path, index=False)
        return str(path)
    if isinstance(value, tuple) and all(isinstance(one, Integral) for one in value):
        return "x".join(str(int(one)) for one in value)
    if isinstance(value, tuple):
        return ",".join(str(one) for one in value)
    if isinstance(value, Mapping):
        return ",".join(f"{name}={one}" for name, one in value.items())
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _run(words: list[str]) -> Report:
    # The process finds this very package, wherever it was imported from.
    path = os.pathsep.join([str(Path(__file__).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        [sys.executable, "-m", "tilewright", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        output, said = process.communicate()
    except BaseException:
        process.terminate()
        try:
            process.communicate(timeout=2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        raise
    try:
        document = json.loads(output)
    except ValueError:
        shown = f"`tilewright {' '.join(words[:-1])}`"
        if process.returncode == 0:
            raise WrongInput(f"{shown} is for the terminal: it prints no JSON document") from None
        raise Internal(f"{shown} ended with {process.returncode}: {said.strip()}") from None
    error = document.get("error") if isinstance(document, dict) else None
    if error:
        found = [
            (one.get("code", ""), one.get("message", ""), one.get("line", 0), one.get("column", 0), one.get("file", ""))
            for one in error.get("diagnostics") or []
        ]
        raise of_kind(error.get("kind", "internal"), error.get("message", ""), error.get("hints") or [], found)
    return Report(document)
