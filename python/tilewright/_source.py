"""The text that a function was compiled from, and whether it still is."""

from __future__ import annotations

import ast
import dis
import inspect
import os
import stat
import sys
from typing import Any

from .errors import ProgramError


def source_of(function: Any) -> tuple[str, str]:
    """Text of a function, each line at its own number in its file, and the file's name."""
    try:
        lines, first = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or "<function>"
    except (OSError, TypeError, IndexError) as error:
        lines, first, file = typed(function), function.__code__.co_firstlineno, function.__code__.co_filename
        if not lines:
            raise ProgramError(
                f"the source of `{function.__name__}` cannot be read: {error}",
                ("write the function in a file or a notebook cell, or pass the text of the stencil language",),
            ) from None
    return "\n" * (first - 1) + "".join(lines), file


def typed(function: Any) -> list[str]:
    """The lines of a function that was typed at Python's prompt, or stands in a file that Python reads as its input: the last
    ones of which the function may have been compiled."""
    if function.__code__.co_filename != "<stdin>":
        return []
    for said in (_history(), _input()):
        for at in reversed([at for at, line in enumerate(said) if line.lstrip().startswith(f"def {function.__name__}")]):
            start = at
            while start > 0 and said[start - 1].lstrip().startswith("@"):
                start -= 1
            try:
                lines = inspect.getblock(said[start:])
                if is_source_of(function, definition_in("\n" + "".join(lines), "<stdin>")):
                    return lines
            except (SyntaxError, StopIteration, IndentationError):
                continue
    return []


def _history() -> list[str]:
    """What was typed at the prompt."""
    readline = sys.modules.get("readline")
    if readline is None:
        return []
    items = (readline.get_history_item(at) for at in range(1, readline.get_current_history_length() + 1))
    return [f"{line}\n" for item in items for line in (item or "").split("\n")]


def _input() -> list[str]:
    """The whole standard input, where it is a file."""
    try:
        size = os.fstat(0).st_size if stat.S_ISREG(os.fstat(0).st_mode) else 0
        return os.pread(0, size, 0).decode(errors="replace").splitlines(keepends=True)
    except (OSError, AttributeError):
        return []


def parsed(source: str, file: str) -> ast.Module:
    """The syntax tree, with the lines and columns of the file: an indented function stands in a block."""
    if not source.lstrip("\n")[:1].isspace():
        return ast.parse(source, file)
    # The line before an indented function is not its own.
    before = len(source) - len(source.lstrip("\n")) - 1
    return ast.parse(source[:before] + "if 1:" + source[before:], file)


def definition_in(source: str, file: str) -> Any:
    """The first function of a text."""
    tree = parsed(source, file)
    return next(node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def is_source_of(function: Any, definition: Any) -> bool:
    """Whether a function was compiled from this text: its code has the same names, numbers and operators, in the same order."""
    alone = type(definition)(**{**dict(ast.iter_fields(definition)), "decorator_list": []})
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(alone, definition)], []))
    found = compile(module, "<stencil>", "exec", dont_inherit=True).co_consts
    code = next(one for one in found if inspect.iscode(one) and one.co_name == definition.name)
    return made_of(code) == made_of(function.__code__)


def made_of(code: Any) -> list[Any]:
    """What of a function's code does not depend on what stands around the function: a variable of a function around it, or a
    module that is imported there, is read by other instructions."""
    found: list[Any] = [code.co_name, code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
    for one in dis.get_instructions(code):
        if one.opname.startswith(("BINARY", "COMPARE", "UNARY", "STORE")):
            found.append((one.opname, one.argrepr))
        elif isinstance(one.argval, (str, float, complex)) or (one.opname.startswith("LOAD") and one.opcode in dis.hasconst):
            found.append(repr(one.argval) if not inspect.iscode(one.argval) else "code")
    return found
