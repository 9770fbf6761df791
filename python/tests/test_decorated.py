"""Functions as stencils: what their names mean, and where mistakes are shown."""

import functools
import math
import os
import select
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import tilewright
from tilewright import f32, f64
from tilewright._source import is_source_of, parsed, source_of

WEIGHTS = (0.25, -0.5)
RATE = np.float32(0.25)
REACH = np.int64(1)
TABLE = {"rates": [0.0625]}
NOTHING = None
SINGLE = f32


def exp(value):
    """Another function than the one that every library has."""
    return value


class Settings:
    """Numbers with a name in front."""

    rate = 0.125

    def step(self, t, i, u: f64):
        u[t + 1, i] = u[t, i]


def text_of(function):
    return tilewright.stencil(function).text


class Names(unittest.TestCase):
    def test_constants_are_what_they_are_outside(self):
        near = 0.5
        step = -2

        def mine(t: int, i: int, u: SINGLE, a=1 / 4, b=np.float64(0.5), c=Settings.rate * 2):
            left = u[t, i - REACH] * near + WEIGHTS[1] * math.pi + TABLE["rates"][0]
            u[t + 1, i] = left + a * u[t, i + 1] + b + c + Settings.rate + step + RATE

        found = tilewright.stencil(mine)
        self.assertEqual(found.parameters, {"a": 0.25, "b": 0.5, "c": 0.25})
        self.assertEqual(found.fields[0].dtype, "f32")
        for words in ("u[t, i-1] * 0.5", repr(-0.5 * math.pi), "0.0625", "0.125", "-2", "0.25"):
            self.assertIn(words.replace(" ", ""), found.text.replace(" ", ""))

    def test_functions_are_those_that_the_names_mean(self):
        def libraries(t, i, u: f64):
            one = np.sqrt(abs(u[t, i])) + math.fabs(u[t, i]) + np.abs(u[t, i])
            two = np.arctan2(one, 2) + round(one) + np.minimum(one, 1)
            u[t + 1, i] = np.where(two > 1, two, np.float64(one))

        text = text_of(libraries)
        for name in ("sqrt(abs(", "atan2(", "rint(", "min(", "? two : one"):
            self.assertIn(name, text)
        self.assertNotIn("round", text)
        # Halves are rounded as Python rounds them.
        rounding = tilewright.stencil(lambda_free_round)
        u = np.array([0.0, 0.5, 1.5, 2.5, 0.0])
        found = rounding.run(u, steps=1, backend="reference")
        np.testing.assert_array_equal(found[1:-1], [round(float(one)) for one in u[1:-1]])

        def own(t, i, u: f64):
            u[t + 1, i] = exp(u[t, i])

        def vectorized(t, i, u: f64):
            u[t + 1, i] = of_numpy(u[t, i])

        of_numpy = np.vectorize(exp)

        def whole(t, i, u: f64):
            u[t + 1, i] = np.max(u[t, i], u[t, i - 1])

        def nowhere(t, i, u: f64):
            u[t + 1, i] = other.exp(u[t, i])  # noqa: F821

        def local(t, i, u: f64):
            sqrt = u[t, i]
            u[t + 1, i] = sqrt(sqrt)

        for function in (own, vectorized, whole, nowhere, local):
            with self.subTest(function.__name__), self.assertRaises(tilewright.ProgramError) as caught:
                tilewright.stencil(function)
            self.assertIn("| ", str(caught.exception))

    def test_extremes_of_what_is_no_number(self):
        def least(t, i, u: f64):
            u[t + 1, i] = min(u[t, i], u[t, i + 1])

        def three(t, i, u: f64):
            u[t + 1, i] = max(u[t, i - 1], u[t, i], u[t, i + 1])

        def either(t, i, u: f64):
            u[t + 1, i] = np.minimum(u[t, i], u[t, i + 1])

        def clipped(t, i, u: f64):
            u[t + 1, i] = np.minimum(np.maximum(u[t, i] + u[t, i + 1], 0.0), 1.0)

        def nested(t, i, u: f64):
            u[t + 1, i] = np.maximum(u[t, i] + u[t, i + 1], np.minimum(2 * u[t, i], u[t, i + 1]))

        u = np.array([0.0, np.nan, 1.0, np.nan, np.nan, -0.5, 0.25, 2.0, 0.0])
        left, here, right = u[:-2], u[1:-1], u[2:]
        for function, wanted in [
            (least, [min(a, b) for a, b in zip(u, u[1:])]),
            (three, [max(a, b, c) for a, b, c in zip(left, here, right)]),
            (either, np.minimum(u[:-1], u[1:])),
            (clipped, np.clip(u[:-1] + u[1:], 0, 1)),
            (nested, np.maximum(u[:-1] + u[1:], np.minimum(2 * u[:-1], u[1:]))),
        ]:
            found = tilewright.stencil(function).run(u, steps=1, backend="reference")
            first = 1 if function is three else 0
            np.testing.assert_array_equal(found[first:-1], wanted, function.__name__)

        def written(t, i, u: f64):
            u[t + 1, i] = np.minimum(u[t, i], 1.0, u[t, i])

        with self.assertRaisesRegex(tilewright.ProgramError, "two arguments"):
            tilewright.stencil(written)

    def test_constants_are_computed_as_python_does(self):
        step = -1

        def mine(t, i, u: f32):
            rate = 0.1 + 0.2
            u[t + 1, i] = rate**2 * u[t, i] + 7 // 2 * u[t, i - step] - math.exp(-0.5) * u[t, -1 + i]

        text = text_of(mine)
        for words in (repr((0.1 + 0.2) ** 2), "3 * u[t, i+1]", f"{math.exp(-0.5)!r} * u[t, i-1]"):
            self.assertIn(words, text)

        def too_large(t, i, u: f64, inf=2.0):
            u[t + 1, i] = 1e400 * u[t, i]

        def by_zero(t, i, u: f64):
            u[t + 1, i] = u[t, i] / (step + 1) + 1 / (step + 1)

        def power(t, i, u: f64):
            u[t + 1, i] = u[t, i] * 9**9**9

        def twice(t, i, u: f64):
            rate = 1
            rate = 2
            u[t + 1, i] = rate * u[t, i]

        def forgotten(t, i, u: f64, rate):
            u[t + 1, i] = rate * u[t, i]

        def complex_root(t, i, u: f64):
            u[t + 1, i] = u[t, i] * (-8) ** (1 / 3)

        for function, message in [(complex_root, "j"), (too_large, "finite"), (by_zero, "zero"), (power, "large"), (twice, "twice"), (forgotten, "no default")]:
            with self.subTest(message), self.assertRaisesRegex(tilewright.ProgramError, message):
                tilewright.stencil(function)

    def test_sums_of_many_terms(self):
        terms = " + ".join(f"u[t, i{a:+}, j{b:+}, k{c:+}]" for a in range(-3, 4) for b in range(-3, 4) for c in range(-3, 4))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "box.py"
            path.write_text(f"def box(t, i, j, k, u):\n    u[t+1, i, j, k] = ({terms}) / 343\n"
                            f"def deep(t, i, u):\n    u[t+1, i] = {'abs(' * 90}u[t, i]{')' * 90}\n"
                            f"def deeper(t, i, u):\n    u[t+1, i] = {'(1 + ' * 150}u[t, i]{')' * 150}\n")
            space = {}
            exec(compile(path.read_text(), path, "exec"), space)
            self.assertEqual(text_of(space["box"]).count("u[t, "), 343)
            self.assertEqual(text_of(space["deep"]).count("abs("), 90)
            with self.assertRaisesRegex(tilewright.ProgramError, "nested"):
                tilewright.stencil(space["deeper"])

    def test_what_is_no_number_is_refused(self):
        def flag(t, i, u: f64, a=True):
            u[t + 1, i] = u[t, i] * a

        def nothing(t, i, u: f64):
            u[t + 1, i] = u[t, i] * NOTHING

        def module(t, i, u: f64):
            u[t + 1, i] = u[t, i] * math

        def endless(t, i, u: f64):
            u[t + 1, i] = u[t, i] * math.inf

        def array(t, i, u: f64):
            u[t + 1, i] = u[t, i] * WEIGHTS[i]

        def beyond(t, i, u: f64):
            u[t + 1, i] = u[t, i] * WEIGHTS[2]

        for function in (flag, nothing, module, endless, array, beyond):
            with self.subTest(function.__name__), self.assertRaises(tilewright.ProgramError):
                tilewright.stencil(function)


def lambda_free_round(t, i, u: f64):
    """A domain of inner points."""
    u[t + 1, i] = round(u[t, i]) + 0 * u[t, i - 1] + 0 * u[t, i + 1]


class Mistakes(unittest.TestCase):
    def test_columns_are_those_of_the_file(self):
        def höhe(t, i, u: f64):
            """Umlaute: äöü."""
            u[t + 1, i] = u[t, i] + fremd  # noqa: F821

        def strange(t, i, u: f64):
            """Umlaute: äöü."""
            u[t + 1, i] = 2 * u[t, i * 2]

        with self.assertRaises(tilewright.ProgramError):
            tilewright.stencil(höhe)
        with self.assertRaises(tilewright.ProgramError) as caught:
            tilewright.stencil(strange)
        lines = Path(__file__).read_text(encoding="utf-8").splitlines()
        found = caught.exception.diagnostics[0]
        self.assertTrue(lines[found.line - 1][found.column - 1 :].startswith("i * 2"), found)

        def looped(t, i, u: f64):
            if u[t, i] > 0:
                u[t + 1, i] = 1

        with self.assertRaises(tilewright.ProgramError) as caught:
            tilewright.stencil(looped)
        found = caught.exception.diagnostics[0]
        self.assertTrue(lines[found.line - 1][found.column - 1 :].startswith("if u[t, i] > 0"), found)
        self.assertIn("an `if`", str(caught.exception))

    def test_a_changed_file_is_noticed(self):
        def before(t, i, u: f64):
            u[t + 1, i] = u[t, i] * 2

        source, file = source_of(before)
        for old, new, same in [("", "", True), ("* 2", "* 3", False), ("* 2", "+ 2", False), ("u[t, i]", "w[t, i]", False)]:
            changed = parsed(source.replace(old, new) if old else source, file).body[0].body[0]
            self.assertEqual(is_source_of(before, changed), same, (old, new))

    @unittest.skipUnless(hasattr(os, "openpty"), "no terminals")
    def test_functions_typed_at_the_prompt(self):
        master, terminal = os.openpty()
        # An empty history, and a prompt without colours.
        own = os.environ | {"TERM": "dumb", "PYTHON_BASIC_REPL": "1", "HOME": tempfile.gettempdir()}
        shell = subprocess.Popen(
            [sys.executable, "-i", "-q"], stdin=terminal, stdout=terminal, stderr=terminal, env=own, start_new_session=True
        )
        os.close(terminal)
        try:
            said = self.answer(master, "")
            said += self.answer(master, "import tilewright\n")
            for rate in ("0.5", "0.25"):
                for line in ("@tilewright.stencil", "def mine(t, i, u: tilewright.f32):"):
                    self.answer(master, line + "\n")
                self.answer(master, f"    u[t+1, i] = {rate} * (u[t, i-1] + u[t, i+1])\n")
                self.answer(master, "\n")
            said = self.answer(master, "print(mine.text)\n")
            for line in ("try:", "    @tilewright.stencil", "    def wrong(t, i, u):", "        u[t+1, i] = v"):
                self.answer(master, line + "\n")
            self.answer(master, "except tilewright.ProgramError as error:\n")
            self.answer(master, "    print(error.diagnostics[0].line, error.diagnostics[0].column)\n")
            said += self.answer(master, "\n")
        finally:
            shell.kill()
            shell.wait()
            os.close(master)
        self.assertIn("0.25 * (u[t, i-1]", said)
        self.assertIn("4 21", said)

    @staticmethod
    def answer(terminal, line):
        """Types a line and reads on to the next prompt."""
        os.write(terminal, line.encode())
        said = ""
        while not said.endswith((">>> ", "... ")):
            if not select.select([terminal], [], [], 20)[0]:
                raise AssertionError(f"no prompt after {line!r}: {said!r}")
            said += os.read(terminal, 65536).decode()
        return said

    def test_functions_in_standard_input(self):
        text = (
            "import tilewright\n"
            "@tilewright.stencil\n"
            "def mine(t, i, u: tilewright.f32):\n"
            "    u[t+1, i] = 0.5 * (u[t, i-1] + u[t, i+1])\n"
            "print(mine.fields[0].dtype)\n"
        )
        with tempfile.TemporaryFile() as file:
            file.write(text.encode())
            file.seek(0)
            said = subprocess.run([sys.executable, "-"], stdin=file, capture_output=True, text=True)
            self.assertEqual((said.stdout, said.stderr), ("f32\n", ""))
        said = subprocess.run([sys.executable, "-"], input=text, capture_output=True, text=True)
        self.assertIn("write the function in a file", said.stderr)

    def test_what_is_no_function_is_refused(self):
        async def waits(t, i, u: f64):
            u[t + 1, i] = u[t, i]

        @functools.lru_cache
        def wrapped(t, i, u: f64):
            u[t + 1, i] = u[t, i]

        space = {}
        exec("def typed(t, i, u):\n    u[t + 1, i] = u[t, i]\n", space)
        for function in (waits, wrapped, Settings().step, space["typed"], max, Settings, tilewright.stencil("heat1d"), lambda t, i, u: u[t, i]):
            with self.subTest(repr(function)), self.assertRaises(tilewright.ProgramError):
                tilewright.stencil(function)


if __name__ == "__main__":
    unittest.main()
