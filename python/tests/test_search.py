"""Searches of functions and of commands, and the files of trials that others read and write."""

import copy
import enum
import json
import pickle
import tempfile
import unittest
from pathlib import Path

import numpy as np

import tilewright
from tilewright import SearchResult, Trial


class Block(enum.IntEnum):
    SMALL = 32
    LARGE = 64


CACHE = {
    "device_name": "GPU",
    "kernel_name": "k",
    "tune_params_keys": ["x", "kind"],
    "tune_params": {"x": [1, 2, 4], "kind": ["a", "b"]},
    # As version 1.5 writes it.
    "objective": ["time"],
    "cache": {
        "1,a": {"x": 1, "kind": "a", "time": 2.5, "times": [2.0, 3.0]},
        "2,b": {"x": 2, "kind": "b", "__error__": "CompilationFailedConfig"},
        "4,b": {"x": 4, "kind": "b", "time": 1.5},
    },
}


class Files(unittest.TestCase):
    def test_caches_of_kernel_tuner_in_and_out(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cache.json"
            path.write_text(json.dumps(CACHE))
            found = tilewright.trials(path)
            self.assertEqual((found.best, found.value, found.metric), ({"x": 4, "kind": "b"}, 1.5, "time"))
            self.assertEqual([one.status for one in found.trials], ["ok", "compile-error", "ok"])
            self.assertEqual((found.kernel, found.device), ("k", "GPU"))
            for name in ("again.cache.json", "again.json", "again.csv"):
                again = Path(folder) / name
                found.save(again)
                read = tilewright.trials(again)
                self.assertEqual((read.best, read.value, len(read.trials)), (found.best, 1.5, 3), name)
            written = json.loads((Path(folder) / "again.cache.json").read_text())
            self.assertEqual(list(written["cache"]), list(CACHE["cache"]))
            self.assertEqual(written["tune_params"], CACHE["tune_params"])
            for wrong, message in [("x.txt", "format is not known"), ("no/x.csv", "no/x.csv")]:
                with self.assertRaisesRegex(tilewright.TilewrightError, message):
                    found.save(Path(folder) / wrong)
            with self.assertRaisesRegex(tilewright.WrongInput, "nothing"):
                tilewright.trials(path, metric="nothing")
            path.write_text("{")
            with self.assertRaises(tilewright.WrongInput):
                tilewright.trials(path)
        with self.assertRaises(tilewright.TilewrightError):
            tilewright.trials("nowhere.json")
        with self.assertRaisesRegex(tilewright.WrongInput, "no trials"):
            SearchResult(None, None, ()).save("x.csv")


class Searching(unittest.TestCase):
    def test_commands_are_searched(self):
        space = {"x": np.arange(1, 5), "name": ["a b", "c'd"], "fast": [True, False]}
        line = 'test {x} != 3 || exit 65; test {name} = "a b" && echo {x} || echo 1{x}'
        found = tilewright.search(line, space, budget=30, method="random", constraints=["x < 4"])
        self.assertEqual(found.best["x"], 1)
        self.assertEqual((found.best["name"], found.value, found.metric), ("a b", 1.0, "time"))
        self.assertEqual(len(found.trials), 12)
        self.assertEqual({one.status for one in found.trials}, {"ok", "invalid"})
        self.assertEqual(list(found.trials[0].configuration), ["x", "name", "fast"])
        joules = tilewright.search('echo \'{"joules": 2, "time": 1}\'', {"x": [1]}, budget=1, metric="joules", method="random")
        self.assertEqual((joules.value, joules.metric), (2.0, "joules"))
        failed = tilewright.search("exit 1", {"x": [1, 2]}, budget=2, method="random")
        self.assertEqual((failed.best, [one.status for one in failed.trials]), (None, ["run-error"] * 2))
        with self.assertRaisesRegex(tilewright.WrongInput, "y"):
            tilewright.search("echo {y}", {"x": [1]}, budget=1)

    def test_levels_are_numbers_of_any_kind(self):
        space = {"block": list(Block), "x": np.linspace(0, 1, 3), "flag": np.array([True, False]), "one": [np.float32(0.5)]}
        found = tilewright.search(lambda one: one["block"] + one["x"] + one["flag"], space, budget=20, method="random")
        self.assertEqual(found.best, {"block": 32, "x": 0.0, "flag": False, "one": 0.5})
        for wrong in ([2**63], [None], [[1]], [np.ones(2)], []):
            with self.subTest(repr(wrong)), self.assertRaises(tilewright.WrongInput):
                tilewright.search(lambda one: 1, {"x": wrong})
        with self.assertRaisesRegex(tilewright.WrongInput, "list"):
            tilewright.search(lambda one: 1, {"x": [1]}, constraints="x < 2")

    def test_what_a_function_raises_or_returns(self):
        values = {1: 2.0, 2: "text", 3: float("nan"), 4: None, 5: {"other": 1}, 6: {"value": 1.5, "more": 3}, 7: []}

        def cost(one):
            if one["x"] == 8:
                raise ValueError("eight")
            return values[one["x"]]

        found = tilewright.search(cost, {"x": range(1, 9)}, budget=8, method="random")
        statuses = {one.configuration["x"]: one.status for one in found.trials}
        self.assertEqual((found.best, found.value), ({"x": 6}, 1.5))
        self.assertEqual([statuses[x] for x in (1, 3, 4, 6)], ["ok", "wrong-result", "invalid", "ok"])
        self.assertEqual({statuses[x] for x in (2, 5, 7, 8)}, {"run-error"})
        self.assertTrue(any("eight" in one.message for one in found.trials))


class Showing(unittest.TestCase):
    def test_what_notebooks_show(self):
        trials = (Trial({"x": 1}, "ok", {"value": 2.0}, ""), Trial({"x": "<b>"}, "run-error", {}, "&"))
        found = SearchResult({"x": 1}, 2.0, trials)
        shown = found._repr_html_()
        self.assertIn("&lt;b&gt;", shown)
        self.assertNotIn("<b>&", shown)
        self.assertIn("every", SearchResult(None, None, trials[1:])._repr_html_())
        known = tilewright.analyze("heat1d", tile="st=4,s0=6")
        self.assertTrue(known.drawing.svg.startswith("<svg"))
        self.assertIn("data:image/svg+xml", known._repr_html_())
        self.assertIsNone(known.svg)
        for again in (pickle.loads(pickle.dumps(known)), copy.deepcopy(known)):
            self.assertEqual((again.to_dict(), again.drawing.svg), (known.to_dict(), known.drawing.svg))
        self.assertIsInstance(again, tilewright.Analysis)
        matters = SearchResult({"x": 1}, 1.0, tuple(Trial({"x": x, "y": x % 2}, "ok", {"time": x * 1.5}, "") for x in range(9)), "time")
        explained = tilewright.explain(matters)
        self.assertEqual((explained.metric, explained.trials, explained.written), ("time", 9, []))
        self.assertTrue(explained.drawing.svg.startswith("<svg"))

    def test_types_that_reports_declare(self):
        import typing

        reports = [
            tilewright.analyze("heat1d"),
            tilewright.predict("heat2d", size=(500, 500), steps=50, machine="v100", tile="st=4,s0=4,s1=32"),
            tilewright.tune("heat2d", size=(500, 500), steps=50, machine="v100"),
            tilewright.machines()[0],
            tilewright.stencils()[0],
        ]
        with tempfile.TemporaryDirectory() as folder:
            reports.append(tilewright.compile("heat1d", folder, target="openmp", strategy="naive"))
            table = Path(folder) / "table.csv"
            table.write_text("name,area,speed\na,1,2\nb,2,3\nc,3,1\n")
            reports.append(tilewright.pareto(table, x="area", y="speed"))
        for report in reports:
            for name, declared in typing.get_type_hints(type(report)).items():
                kinds = tuple(typing.get_origin(one) or one for one in typing.get_args(declared) or [declared])
                if typing.get_origin(declared) is list:
                    kinds = (list,)
                with self.subTest(f"{type(report).__name__}.{name}"):
                    self.assertIsInstance(getattr(report, name), (*kinds, int) if float in kinds else kinds)


if __name__ == "__main__":
    unittest.main()
