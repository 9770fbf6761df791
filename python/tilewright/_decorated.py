"""Stencils written as Python functions: the function's syntax tree as a text of the stencil language.

Each part of the text remembers the part of the function that it was made of, so that mistakes are shown there.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any, Callable

from .errors import Diagnostic, ProgramError

OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.And: "&&", ast.Or: "||",
}  # fmt: skip
"""Operators of both languages. Where Python evaluates otherwise (`**`, `//`, `@`), there is none."""


class Text:
    """A text that grows, and where its parts come from."""

    def __init__(self, source: str, name: str) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.origins: list[tuple[int, int, int, int]] = []
        self.source = source
        self.name = name
        self.lines = [0]
        for line in source.split("\n"):
            self.lines.append(self.lines[-1] + len(line.encode()) + 1)

    def add(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text.encode())

    def place(self, node: Any) -> tuple[int, int]:
        """First byte of a node in the source, and the one behind it."""
        start = self.lines[node.lineno - 1] + node.col_offset
        return start, self.lines[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or node.col_offset)

    def of(self, node: Any, write: Callable[[], None]) -> None:
        """What `write` adds is made of this node."""
        start = self.length
        write()
        self.origins.append((start, self.length, *self.place(node)))

    def refuse(self, node: Any, message: str, hint: str) -> ProgramError:
        line = self.source.split("\n")[node.lineno - 1]
        # Columns of syntax trees count bytes.
        column = len(line.encode()[: node.col_offset].decode(errors="ignore"))
        shown = f"{message}\n  --> {self.name}:{node.lineno}:{column + 1}\n   | {line}\n   | {' ' * column}^"
        found = Diagnostic("python", message, node.lineno, column + 1, self.name)
        return ProgramError(shown, (hint,), (found,))


def source_of(function: Callable[..., Any]) -> tuple[str, str, int]:
    """Text of the file of a function, the file's name, and the line of the function."""
    try:
        lines, first = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or "<function>"
    except (OSError, TypeError) as error:
        name = getattr(function, "__name__", "?")
        raise ProgramError(
            f"the source of `{name}` cannot be read: {error}",
            ("write the function in a file or a notebook cell, or pass the text of the stencil language",),
        ) from None
    # Only the function, at the place that it has in its file.
    return "\n" * (first - 1) + textwrap.dedent("".join(lines)), file, len(lines[0]) - len(lines[0].lstrip())


def translate(function: Callable[..., Any], element: str | None) -> tuple[str, Text]:
    """The function's name, and its text in the stencil language."""
    source, file, _ = source_of(function)
    tree = ast.parse(source, file)
    definition = next(node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    text = Text(source, file)
    Function(definition, text, element, function).write()
    return definition.name, text


class Function:
    """One function."""

    def __init__(self, node: Any, text: Text, element: str | None, function: Callable[..., Any]) -> None:
        self.node, self.text, self.element = node, text, element or "f64"
        arguments = node.args
        if arguments.vararg or arguments.kwarg:
            raise text.refuse(node, "a stencil has no `*arguments`", "name each index, field and parameter")
        named = [*arguments.posonlyargs, *arguments.args]
        defaults = dict(zip([one.arg for one in named[len(named) - len(arguments.defaults) :]], arguments.defaults))
        for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
            named.append(one)
            if default is not None:
                defaults[one.arg] = default
        self.globals = getattr(function, "__globals__", {})
        used = {
            sub.value.id: sub for sub in ast.walk(node) if isinstance(sub, ast.Subscript) and isinstance(sub.value, ast.Name)
        }
        written = {
            one.value.id
            for sub in ast.walk(node)
            if isinstance(sub, ast.Assign)
            for one in sub.targets
            if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name)
        }
        self.parameters = [(one, defaults[one.arg]) for one in named if one.arg in defaults]
        plain = [one for one in named if one.arg not in defaults]
        self.fields = [one for one in plain if one.arg in used or one.annotation is not None]
        self.indices = [one for one in plain if one not in self.fields]
        self.written, self.used = written, used
        annotated = [one for one in self.fields if one.annotation is not None]
        if not element:
            self.element = self.type_of(annotated[0]) if annotated else "f64"

    def write(self) -> None:
        text = self.text
        names = ", ".join(one.arg for one in self.indices)
        text.of(self.node, lambda: text.add(f"stencil {self.node.name}({names}) {{\n"))
        for one in self.fields:
            element = self.type_of(one)
            text.add("    ")
            text.of(one, lambda: text.add(f"{self.kind(one.arg)} {one.arg}: {element};\n"))
        for one, default in self.parameters:
            text.add("    ")

            def parameter() -> None:
                text.add(f"param {one.arg} = ")
                self.expression(default)

            text.of(one, parameter)
            text.add(";\n")
        body = self.node.body
        if body and isinstance(body[0], ast.Expr) and isinstance(getattr(body[0].value, "value", None), str):
            body = body[1:]
        for statement in body:
            self.statement(statement)
        text.add("}\n")

    def kind(self, name: str) -> str:
        """`field`, `coefficient`, or `series` of what is indexed by time alone."""
        if name in self.written:
            return "field"
        indices = self.used[name].slice if name in self.used else None
        several = isinstance(indices, ast.Tuple)
        if indices is not None and not several and len(self.indices) > 0 and self.mentions(indices, self.indices[0].arg):
            return "series"
        return "coefficient"

    @staticmethod
    def mentions(node: ast.AST, name: str) -> bool:
        return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))

    def type_of(self, one: ast.arg) -> str:
        """The type that an annotation names: `f32`, `tilewright.f64`, `"f32"`, `np.float32`."""
        note = one.annotation
        if note is None:
            return self.element
        name = note.value if isinstance(note, ast.Constant) else getattr(note, "attr", getattr(note, "id", None))
        known = {"f32": "f32", "float32": "f32", "f64": "f64", "float64": "f64", "float": "f64"}
        if name not in known:
            raise self.text.refuse(note, "this is not a type of a field", "use tilewright.f32 or tilewright.f64")
        return known[name]

    def statement(self, node: ast.stmt) -> None:
        text = self.text
        text.add("    ")
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]

            def assignment() -> None:
                if isinstance(target, ast.Name):
                    text.add("let ")
                self.expression(target)
                text.add(" = ")
                self.expression(node.value)
                text.add(";")

            if isinstance(target, (ast.Name, ast.Subscript)):
                text.of(node, assignment)
                text.add("\n")
                return
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            value = node.value

            def local() -> None:
                text.add(f"let {node.target.id} = ")  # type: ignore[union-attr]
                self.expression(value)
                text.add(";")

            text.of(node, local)
            text.add("\n")
            return
        if isinstance(node, ast.Pass):
            return
        raise text.refuse(
            node,
            "a stencil has assignments only",
            "`u[t+1, i, j] = ...` computes points, `name = ...` names a value; time and space have no loops of their own",
        )

    def expression(self, node: ast.expr) -> None:
        self.text.of(node, lambda: self.plain(node))

    def parts(self, open_: str, nodes: list[Any], between: str, close: str) -> None:
        self.text.add(open_)
        for number, node in enumerate(nodes):
            if number:
                self.text.add(between)
            self.expression(node)
        self.text.add(close)

    def plain(self, node: ast.expr) -> None:
        text = self.text
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            text.add(repr(node.value))
        elif isinstance(node, ast.Name):
            known = {one.arg for one in [*self.indices, *self.fields, *(one for one, _ in self.parameters)]}
            local = any(
                isinstance(one, ast.Name) and one.id == node.id and isinstance(one.ctx, ast.Store)
                for one in ast.walk(self.node)
            )
            value = self.globals.get(node.id)
            if node.id not in known and not local and type(value) in (int, float):
                # A constant of the module, as it is now.
                text.add(repr(value) if value >= 0 else f"({value!r})")
            else:
                text.add(node.id)
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            text.add(node.value.id)
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            self.indices_of(inner)
        elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            self.parts("(", [node.left, node.right], f" {OPERATORS[type(node.op)]} ", ")")
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            self.parts("pow(", [node.left, node.right], ", ", ")")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd, ast.Not)):
            sign = {ast.USub: "-", ast.UAdd: "+", ast.Not: "!"}[type(node.op)]
            if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
                self.parts("-", [node.operand], "", "")
            else:
                self.parts(f"({sign}", [node.operand], "", ")")
        elif isinstance(node, ast.Compare) and all(type(one) in OPERATORS for one in node.ops):
            sides = [node.left, *node.comparators]
            text.add("(")
            for number, operator in enumerate(node.ops):
                if number:
                    text.add(" && ")
                self.parts("", [sides[number], sides[number + 1]], f" {OPERATORS[type(operator)]} ", "")
            text.add(")")
        elif isinstance(node, ast.BoolOp):
            self.parts("(", list(node.values), f" {OPERATORS[type(node.op)]} ", ")")
        elif isinstance(node, ast.IfExp):
            self.parts("(", [node.test], "", " ? ")
            self.parts("", [node.body, node.orelse], " : ", ")")
        elif isinstance(node, ast.Call) and not node.keywords:
            name = getattr(node.func, "attr", getattr(node.func, "id", None))
            if name is None:
                raise text.refuse(node, "this is not a function", "see the functions of the language")
            # As NumPy and math have them.
            name = {"fabs": "abs", "absolute": "abs", "minimum": "min", "maximum": "max", "power": "pow"}.get(name, name)
            self.parts(f"{name}(", list(node.args), ", ", ")")
        else:
            raise text.refuse(
                node,
                f"`{ast.unparse(node)}` has no meaning in a stencil",
                "numbers, fields at `[t, i+1, j]`, parameters, + - * / **, comparisons, `x if c else y` and functions such as "
                "sqrt, exp, min and max are",
            )

    def indices_of(self, nodes: list[Any]) -> None:
        """Indices are `i`, `i + 1`, `i - 1`, `1 + i`, without parentheses."""
        self.text.add("[")
        for number, node in enumerate(nodes):
            if number:
                self.text.add(", ")
            if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
                sign = OPERATORS[type(node.op)]
                self.text.of(node, lambda node=node, sign=sign: self.parts("", [node.left, node.right], f" {sign} ", ""))
            else:
                self.expression(node)
        self.text.add("]")
