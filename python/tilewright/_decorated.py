"""Stencils written as Python functions: the function's syntax tree as a text of the stencil language.

Each part of the text remembers the part of the function that it was made of, so that mistakes are shown there.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import operator
from numbers import Integral, Real
from typing import Any, Callable

from ._source import definition_in, is_source_of, source_of
from .errors import Diagnostic, ProgramError

OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.And: "&&", ast.Or: "||",
}  # fmt: skip
"""Operators of both languages. Where Python evaluates otherwise (`**`, `//`, `@`), there is none."""

FUNCTIONS = {
    "fabs": "abs", "absolute": "abs", "power": "pow",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2",
    "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    # To even, as Python and NumPy round; `round` of C rounds halves away from zero.
    "round": "rint", "float32": "f32", "float64": "f64", "float": "f64",
}  # fmt: skip
"""Functions that Python's libraries call otherwise than the language does."""

EXTREMES = {"minimum": "min", "maximum": "max"}
"""NumPy's functions that are NaN where one of their arguments is."""

SAID: dict[type, str] = {
    ast.For: "a loop", ast.While: "a loop", ast.If: "an `if`", ast.Return: "a `return`", ast.AugAssign: "an update",
    ast.Expr: "an expression", ast.FunctionDef: "a function", ast.Import: "an import", ast.ImportFrom: "an import",
    ast.Assign: "an assignment of several things at once",
}  # fmt: skip

ARITHMETIC: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip
"""Operators on constants, which Python computes."""

SUMS, PRODUCTS = (ast.Add, ast.Sub), (ast.Mult, ast.Div, ast.Mod)
"""Operators of the language that are evaluated from the left."""

MOST_BITS = 4096
"""Whole numbers of constants have no more."""

LIBRARIES = ("math", "numpy", "builtins", "tilewright", "cupy")
"""Where functions come from that mean what the language's functions mean."""


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

    def whole(self, node: Any, text: str) -> None:
        """Adds a text that is made of a node."""
        self.of(node, lambda: self.add(text))

    def refuse(self, node: Any, message: str, hint: str) -> ProgramError:
        line = self.source.split("\n")[node.lineno - 1]
        # Columns of syntax trees count bytes.
        column = len(line.encode()[: node.col_offset].decode(errors="ignore"))
        shown = f"{message}\n  --> {self.name}:{node.lineno}:{column + 1}\n   | {line}\n   | {' ' * column}^"
        found = Diagnostic("python", message, node.lineno, column + 1, self.name)
        return ProgramError(shown, (hint,), (found,))


def translate(function: Callable[..., Any], element: str | None) -> tuple[str, Text]:
    """The function's name, and its text in the stencil language."""
    wrapped = function
    function = inspect.unwrap(function)
    if not inspect.isfunction(function):
        raise ProgramError(
            f"{function!r} is not a function that is written in Python",
            ("a stencil is a plain function, neither a method nor a part of one",),
        )
    source, file = source_of(function)
    try:
        definition = definition_in(source, file)
    except (SyntaxError, StopIteration):
        raise ProgramError(
            f"the source of `{function.__name__}` cannot be read: there is no `def` in it",
            ("write the function in a file or a notebook cell, or pass the text of the stencil language",),
        ) from None
    text = Text(source, file)
    if isinstance(definition, ast.AsyncFunctionDef):
        raise text.refuse(definition, "a stencil is no coroutine", "write `def`")
    if not is_source_of(function, definition):
        raise ProgramError(
            f"{file}:{definition.lineno} is not what `{function.__name__}` was compiled from",
            ("the file has changed since: import it again",),
        )
    if wrapped is not function:
        raise text.refuse(
            definition,
            f"a decorator has made something else of `{function.__name__}`, which a stencil would leave out",
            "the text of the function is translated; decorate the plain function",
        )
    try:
        Function(definition, text, element, function).write()
    except RecursionError:
        raise text.refuse(definition, "this is nested too deeply", "name parts of it: `part = ...`") from None
    return definition.name, text


class Function:
    """One function."""

    def __init__(self, node: Any, text: Text, element: str | None, function: Callable[..., Any]) -> None:
        self.node, self.text, self.element = node, text, element or "f64"
        arguments = node.args
        if arguments.vararg or arguments.kwarg:
            raise text.refuse(node, "a stencil has no `*arguments`", "name each index, field and parameter")
        named = [*arguments.posonlyargs, *arguments.args]
        # Their values, whatever they were computed from.
        given = function.__defaults__ or ()
        defaults = dict(zip([one.arg for one in named[len(named) - len(given) :]], given))
        named += arguments.kwonlyargs
        defaults |= function.__kwdefaults__ or {}
        self.outside = {**vars(builtins), **function.__globals__}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                self.outside[name] = cell.cell_contents
            except ValueError:
                # It is assigned later.
                self.outside.pop(name, None)
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
        self.fields = [one for one in plain if one.arg in used or not self.names_an_index(one)]
        self.indices = [one for one in plain if one not in self.fields]
        for one in self.indices:
            if self.fields and plain.index(one) > plain.index(self.fields[0]):
                raise text.refuse(one, f"`{one.arg}` is never indexed, and has no default", f"a parameter has one: `{one.arg}=1.0`")
        self.written, self.used = written, used
        # Constants among the parts of the statement at hand.
        self.known: dict[ast.AST, Any] = {}
        self.stored = [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
        self.inside = {*self.stored, *(one.arg for one in named)}
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
            text.whole(one, f"{self.kind(one.arg)} {one.arg}: {element};\n")
        for one, default in self.parameters:
            text.add("    ")

            text.whole(one, f"param {one.arg} = {self.number(default, one)}")
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

    @staticmethod
    def names_an_index(one: ast.arg) -> bool:
        """Whether what is never subscripted may be an index: `i`, `i: int`."""
        note = one.annotation
        return note is None or "int" in (getattr(note, "id", None), getattr(note, "value", None))

    def type_of(self, one: ast.arg) -> str:
        """The type that an annotation names: `f32`, `tilewright.f64`, `"f32"`, `np.float32`."""
        note = one.annotation
        if note is None:
            return self.element
        known = {"f32": "f32", "float32": "f32", "f64": "f64", "float64": "f64", "float": "f64"}
        name = getattr(note, "attr", getattr(note, "id", None))
        if isinstance(note, ast.Constant) and isinstance(note.value, str):
            name = note.value.rpartition(".")[2]
        if name not in known:
            # A name of one's own for a type.
            meant = self.value(note)
            name = meant if isinstance(meant, str) else getattr(meant, "__name__", None)
        if not isinstance(name, str) or name not in known:
            raise self.text.refuse(note, "this is not a type of a field", "use tilewright.f32 or tilewright.f64")
        return known[name]

    def value(self, node: ast.AST) -> Any:
        """What a name, or an attribute or an element of one, means outside the function; `None` where it means nothing there."""
        if isinstance(node, ast.Name):
            return None if node.id in self.inside else self.outside.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.value(node.value)
            return None if owner is None else getattr(owner, node.attr, None)
        if isinstance(node, ast.Subscript):
            # An element of a table of constants.
            owner = self.value(node.value)
            try:
                return None if owner is None else owner[ast.literal_eval(node.slice)]
            except (ValueError, TypeError, LookupError):
                return None
        return None

    def number(self, value: Any, node: ast.AST) -> str:
        """A number of Python's as the language writes it."""
        if isinstance(value, bool) or not isinstance(value, Real):
            raise self.text.refuse(node, f"{value!r} is not a number", "parameters and constants of a stencil are numbers")
        try:
            found = float(value)
        except OverflowError:
            found = math.inf
        if not math.isfinite(found):
            raise self.text.refuse(node, f"{value!r} is no number that a stencil can have", "constants are finite")
        return repr(int(value)) if isinstance(value, Integral) else repr(found)

    def constants(self, statement: ast.stmt) -> dict[ast.AST, Any]:
        """What of a statement is made of numbers alone, with its value: Python's, as it would be where the function ran."""
        found: dict[ast.AST, Any] = {}
        # Parts before what they are parts of, however deep.
        for node in reversed(list(ast.walk(statement))):
            try:
                value = self.constant(node, found)
                if isinstance(node, ast.BinOp) and isinstance(value, complex):
                    raise ValueError(f"it is {value}")
            except Exception as error:
                # Whatever Python would raise here, with its place.
                raise self.text.refuse(node, f"`{ast.unparse(node)}` is no number: {error}", "constants are finite") from error
            if isinstance(value, Real) and not isinstance(value, bool):
                found[node] = value
        return found

    def constant(self, node: ast.AST, known: dict[ast.AST, Any]) -> Any:
        """The value of a node whose parts are `known`; `None` where it is no constant."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            return self.value(node) if isinstance(node.ctx, ast.Load) else None
        if isinstance(node, ast.UnaryOp) and type(node.op) in ARITHMETIC and node.operand in known:
            return ARITHMETIC[type(node.op)](known[node.operand])
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and node.left in known and node.right in known:
            left, right = known[node.left], known[node.right]
            if isinstance(node.op, ast.Pow) and isinstance(left, int) and right * left.bit_length() > MOST_BITS:
                raise OverflowError("it is too large")
            return ARITHMETIC[type(node.op)](left, right)
        if isinstance(node, ast.Call) and not node.keywords and node.args and all(one in known for one in node.args):
            function = self.value(node.func)
            # Functions of numbers, written in C: they have no effects.
            if getattr(function, "__module__", None) == "math" or any(function is one for one in (abs, min, max, round, float)):
                return function(*(known[one] for one in node.args))
            if type(function).__module__ == "numpy" and type(function).__name__ == "ufunc" and len(node.args) == function.nin:
                return function(*(known[one] for one in node.args))
        return None

    def statement(self, node: ast.stmt) -> None:
        text = self.text
        self.known = self.constants(node)
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else getattr(node, "target", None)
        if isinstance(target, ast.Name) and self.stored.count(target.id) == 1 and getattr(node, "value", None) in self.known:
            # A name for a constant, to statements that follow.
            self.inside.discard(target.id)
            self.outside[target.id] = self.known[node.value]  # type: ignore[attr-defined]
            return
        self.name_operands(node)
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
            f"a stencil has assignments only, and this is {SAID.get(type(node), ast.unparse(node))}",
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
        if node in self.known:
            number = self.number(self.known[node], node)
            text.add(f"({number})" if number.startswith("-") else number)
        elif isinstance(node, ast.Name) and (node.id in self.inside or node.id not in self.outside):
            text.add(node.id)
        elif isinstance(node, (ast.Name, ast.Attribute)) and self.value(node) is not None:
            self.number(self.value(node), node)
        elif isinstance(node, ast.Subscript) and self.value(node.value) is not None:
            raise text.refuse(
                node,
                f"`{ast.unparse(node)}` is not one number",
                "what is not an argument of the function is a constant; pass arrays as arguments",
            )
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            text.add(node.value.id)
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            self.indices_of(inner)
        elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            self.chain(node)
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
            for at, operator in enumerate(node.ops):
                if at:
                    text.add(" && ")
                self.parts("", [sides[at], sides[at + 1]], f" {OPERATORS[type(operator)]} ", "")
            text.add(")")
        elif isinstance(node, ast.BoolOp):
            self.parts("(", list(node.values), f" {OPERATORS[type(node.op)]} ", ")")
        elif isinstance(node, ast.IfExp):
            self.parts("(", [node.test], "", " ? ")
            self.parts("", [node.body, node.orelse], " : ", ")")
        elif isinstance(node, ast.Call) and not node.keywords:
            name = self.called(node.func)
            if name == "where" and len(node.args) == 3:
                self.parts("(", [node.args[0]], "", " ? ")
                self.parts("", node.args[1:], " : ", ")")
            elif len(node.args) > 1 and any(self.value(node.func) is one for one in (min, max)):
                # Python keeps the first of two unless the second is less; the language's `min(a, b)` is `a < b ? a : b`.
                for one in reversed(node.args[1:]):
                    self.parts(f"{name}(", [one], "", ", ")
                self.expression(node.args[0])
                text.add(")" * (len(node.args) - 1))
            elif name in EXTREMES:
                self.extreme(EXTREMES[name], node)
            else:
                self.parts(f"{name}(", list(node.args), ", ", ")")
        else:
            raise text.refuse(
                node,
                f"`{ast.unparse(node)}` has no meaning in a stencil",
                "numbers, fields at `[t, i+1, j]`, parameters, + - * / **, comparisons, `x if c else y` and functions such as "
                "sqrt, exp, min and max are",
            )

    def chain(self, node: ast.BinOp) -> None:
        """Operators from left to right, without parentheses around those before."""
        alike = next((kinds for kinds in (SUMS, PRODUCTS) if isinstance(node.op, kinds)), ())
        parts: list[ast.expr] = [node.right]
        operators = [node.op]
        first = node.left
        while isinstance(first, ast.BinOp) and isinstance(first.op, alike) and first not in self.known:
            parts.append(first.right)
            operators.append(first.op)
            first = first.left
        self.parts("(", [first], "", "")
        for sign, one in zip(reversed(operators), reversed(parts)):
            self.text.add(f" {OPERATORS[type(sign)]} ")
            self.expression(one)
        self.text.add(")")

    def extreme(self, name: str, node: ast.Call) -> None:
        """NumPy's `minimum` and `maximum`, which are NaN where one of the two is; the language's are the second one then."""
        if len(node.args) != 2:
            raise self.text.refuse(node, f"`{ast.unparse(node.func)}` has two arguments here", "nest them")
        first, second = node.args
        if first in self.known or second in self.known:
            self.parts(f"{name}(", [first, second] if first in self.known else [second, first], ", ", ")")
            return
        self.parts("(", [first, first], " != ", " ? ")
        self.parts("", [first], "", f" : {name}(")
        self.parts("", [first, second], ", ", "))")

    def name_operands(self, statement: ast.stmt) -> None:
        """Gives names to what `extreme` writes several times."""
        for call in reversed(list(ast.walk(statement))):
            if not isinstance(call, ast.Call) or len(call.args) != 2 or any(one in self.known for one in call.args):
                continue
            known_as = getattr(self.value(call.func), "__name__", None) or getattr(call.func, "attr", None)
            plain = any(isinstance(one, ast.Name) or self.is_access(one) for one in call.args)
            if known_as not in EXTREMES or call in self.known:
                continue
            if plain:
                # The one that is easy to read again comes first.
                call.args.sort(key=lambda one: not (isinstance(one, ast.Name) or self.is_access(one)))
                continue
            name = next(name for number in range(len(self.inside) + 1) if (name := f"operand{number}") not in self.inside)
            self.inside.add(name)
            self.text.add(f"    let {name} = ")
            self.expression(call.args[0])
            self.text.add(";\n")
            call.args[0] = ast.copy_location(ast.Name(name, ast.Load()), call.args[0])

    def is_access(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in self.inside

    def called(self, node: ast.expr) -> str:
        """The language's name of a function. One that is not Python's or NumPy's is not taken for that of the same name."""
        name = getattr(node, "attr", getattr(node, "id", None))
        if not isinstance(name, str) or not isinstance(node, (ast.Name, ast.Attribute)):
            raise self.text.refuse(node, "this is not a function", "see the functions of the language")
        meant = self.value(node)
        if meant is None:
            # The function is never called, and may use names that are nowhere: those of the language and its usual libraries.
            owner = node.value if isinstance(node, ast.Attribute) else None
            known = owner is None or (isinstance(owner, ast.Name) and owner.id in ("np", "numpy", "math"))
            if not known or (isinstance(owner, ast.Name) and self.value(owner) is not None) or name in self.inside:
                raise self.text.refuse(node, f"`{ast.unparse(node)}` is not known", "see the functions of the language")
        elif not isinstance(meant, str) or meant != name:
            home = getattr(meant, "__module__", None) or type(meant).__module__
            library = home.partition(".")[0]
            whole = library == "numpy" and name in ("min", "max", "amin", "amax")
            if library not in LIBRARIES or whole or type(meant).__name__ == "vectorize":
                raise self.text.refuse(
                    node,
                    f"`{ast.unparse(node)}` is a function of {home}, and no function of a stencil",
                    "write numpy.minimum or numpy.maximum" if whole else "write what it computes in its place",
                )
            name = str(getattr(meant, "__name__", name))
        return FUNCTIONS.get(name, name)

    def indices_of(self, nodes: list[Any]) -> None:
        """Indices are `i`, `i + 1`, `i - 1`, without parentheses."""
        self.text.add("[")
        for number, node in enumerate(nodes):
            if number:
                self.text.add(", ")
            index = self.shifted(node)
            if index is None:
                self.expression(node)
                continue
            name, offset = index
            self.text.whole(node, f"{name} {'-' if offset < 0 else '+'} {abs(offset)}" if offset else name)
        self.text.add("]")

    def shifted(self, node: Any) -> tuple[str, int] | None:
        """An index plus a constant, in whatever order they stand."""
        names, offset, rest = [], 0, [(node, 1)]
        while rest:
            one, sign = rest.pop()
            if isinstance(self.known.get(one), Integral):
                offset += sign * int(self.known[one])
            elif isinstance(one, ast.BinOp) and isinstance(one.op, SUMS):
                rest += [(one.left, sign), (one.right, sign if isinstance(one.op, ast.Add) else -sign)]
            elif isinstance(one, ast.Name) and one.id in self.inside and sign > 0:
                names.append(one.id)
            else:
                return None
        return (names[0], offset) if len(names) == 1 else None
