"""The best tile of a machine, with a proof

`tune` finds the tile sizes that a model of the machine calls best, and proves that no other is better within the model; the
certificate can be checked without the search. `predict` says where the time goes, as a drawing.
"""

import tilewright

work = {"size": (4096, 4096), "steps": 1000, "machine": "a100"}
best = tilewright.tune("heat2d", strategy="hhc", certificate="heat2d.certificate", **work)
print(f"{best.tile.to_dict()}: {best.seconds:.4f} s by the model; {best.evaluated} of {best.candidates} tiles evaluated")
assert best.optimal

terms = tilewright.predict("heat2d", strategy="hhc", tile=best.tile.to_dict(), svg="tuning.svg", **work)
print(f"what holds it up: {terms.bottleneck}")

checked = tilewright.command("check-certificate", "heat2d.certificate", accept_passed_over=True)
print(f"the certificate: {'accepted' if checked.accepted else 'rejected'}")
assert checked.accepted
