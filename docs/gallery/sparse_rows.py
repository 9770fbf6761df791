"""Norms of sparse rows: nested sequences

Not all data is a grid. A `.nested` program says *what* is computed over sequences of sequences; which parts run at once, and how,
is chosen apart: Tilewright enumerates the schedules, and each gives the same bits. A sparse matrix is two arrays here: its values,
row after row, and where each row begins.
"""

from pathlib import Path

import numpy as np
import picture
import tilewright

Path("norms.nested").write_text("""
// Euclidean norm of each row of a sparse matrix.
nested norms {
    input values: [f64];
    input offsets: [i64];
    let square = |a| a * a;
    output norm = map(|row| sqrt(reduce(+, map(square, row), 0.0)), nest(values, offsets));
}
""")

# An arrow: a full first row, and a diagonal with a column beside it.
size = 60
matrix = np.eye(size) * np.arange(1, size + 1)
matrix[0], matrix[:, 0] = 5.0, 3.0
rows = [row[row != 0] for row in matrix]
np.save("values.npy", np.concatenate(rows))
np.save("offsets.npy", np.cumsum([0, *map(len, rows)]))

ways = tilewright.command("nested", "analyze", "norms.nested").computations[0]
print(f"{len(ways.schedules)} schedules, {ways.openmp_points} ways to run them with OpenMP")
files = ["values=values.npy", "offsets=offsets.npy"]
done = tilewright.command("nested", "run", "norms.nested", input=files, output="norm=norm.npy", verify=True)

assert done.verified
np.testing.assert_allclose(np.load("norm.npy"), np.linalg.norm(matrix, axis=1))
picture.save("sparse_rows", matrix != 0, colours="sea", scale=4)
