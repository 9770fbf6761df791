"""Commands as functions: what they are given, and what they find."""

import tempfile
import typing
import unittest
from pathlib import Path

import numpy as np

import tilewright
from tilewright import adaptive, nested

TABLE = "feature:n,variant:small,variant:large\n" + "".join(
    f"{n},{n * n},{100 + 2 * n}\n" for n in (1, 2, 3, 5, 8, 11, 12, 14, 20, 30, 50, 80)
)


class Typed(unittest.TestCase):
    def has_what_it_says(self, report):
        """Attributes with types are keys of the document."""
        self.assertLessEqual(set(typing.get_type_hints(type(report))), set(report), type(report).__name__)

    def test_choosing_among_implementations(self):
        with tempfile.TemporaryDirectory() as folder:
            table, model = Path(folder) / "table.csv", Path(folder) / "own.model.json"
            table.write_text(TABLE)
            trained = adaptive.train(table, output=model, classifier="tree", folds=2, hold_out=0.25)
            self.assertEqual((trained.variants, trained.features), (["small", "large"], ["n"]))
            self.assertGreater(trained.test.performance.mean, 0)
            self.assertIn("<pre>", trained._repr_html_())
            chosen = adaptive.predict(model, values={"n": 100})
            self.assertEqual(chosen.choices[0].variant, "large")
            found = adaptive.report(model, table)
            self.assertEqual(found.inputs, 12)
            emitted = adaptive.emit(model, output=Path(folder) / "c")
            self.assertTrue(all(Path(one).is_file() for one in emitted.files))
            for report in (trained, chosen, found, emitted):
                self.has_what_it_says(report)
            with self.assertRaisesRegex(tilewright.WrongInput, "nothing"):
                adaptive.predict(Path(folder) / "nothing", values={"n": 1})

    def test_programs_on_nested_sequences(self):
        twice = tilewright.nested_program(text="nested twice { input s: [f64]; output y = map(|a| 2.0 * a, s); }")
        with tempfile.TemporaryDirectory() as folder:
            np.save(Path(folder) / "s.npy", np.arange(3.0))
            found = nested.run(twice, input=f"s={Path(folder) / 's.npy'}", backend="reference")
        self.assertEqual(found.results[0].checksum, 6)
        shipped = nested.programs()[0]
        analyzed = nested.analyze(shipped)
        self.assertEqual(analyzed.program, shipped.name)
        for report in (found, analyzed, shipped):
            self.has_what_it_says(report)

    def test_arguments_are_what_they_look_like(self):
        machine, shipped = tilewright.machines()[0], tilewright.stencils()[0]
        size = tuple(np.array([500] * shipped.dimension))
        self.has_what_it_says(tilewright.predict(shipped, size=size, steps=5, machine=machine))
        for message, call in {
            "would be an option": lambda: tilewright.analyze("--help"),
            "for the terminal": lambda: tilewright.command("tune", help=True),
            "is no command": lambda: tilewright.command(None),
        }.items():
            with self.subTest(message), self.assertRaisesRegex(tilewright.WrongInput, message):
                call()


if __name__ == "__main__":
    unittest.main()
