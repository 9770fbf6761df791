"""What can go wrong, as exceptions.

Every exception of this package is a `TilewrightError`; what it says is a message, and in `hints` what to do about it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Diagnostic:
    """A mistake in a program, and its place: line and column count from 1."""

    code: str
    message: str
    line: int
    column: int
    file: str


class TilewrightError(Exception):
    """Something could not be done. `kind` says whose fault it is, as the command's JSON does."""

    kind = "failed"

    def __init__(self, message: str, hints: tuple[str, ...] = (), diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hints = tuple(hints)
        self.diagnostics = tuple(diagnostics)

    def __str__(self) -> str:
        return "\n".join([self.message, *(f"  help: {hint}" for hint in self.hints)])

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.hints, self.diagnostics)


class WrongInput(TilewrightError, ValueError):
    """The request cannot be understood, or names what does not exist."""

    kind = "wrong-input"


class ProgramError(WrongInput):
    """Mistakes in a stencil program; `diagnostics` lists them."""


class Infeasible(TilewrightError):
    """The request makes sense, but cannot be served here: no compiler, no GPU, no memory, no legal tiling."""

    kind = "infeasible"


class Failed(TilewrightError, RuntimeError):
    """Something outside failed: a compiler, a disk."""


class Internal(TilewrightError, RuntimeError):
    """A mistake of Tilewright; please report it."""

    kind = "internal"


def of_kind(
    kind: str, message: str, hints: list[str], diagnostics: list[tuple[str, str, int, int, str]] | None = None
) -> BaseException:
    """The exception for an error of the library or the command."""
    if kind == "interrupted":
        return KeyboardInterrupt()
    classes = {"wrong-input": WrongInput, "infeasible": Infeasible, "failed": Failed}
    found = tuple(Diagnostic(*one) for one in diagnostics or [])
    chosen = ProgramError if found and kind == "wrong-input" else classes.get(kind, Internal)
    return chosen(message, tuple(hints), found)
