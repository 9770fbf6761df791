"""Blurring an image, and what keeps its edges

A blur is the heat equation on an image. Perona and Malik let grey values flow where neighbours are alike, and stop them at
edges: a stencil that is not linear, with a local value (`let` in the language, an assignment to a name in a function).
"""

import numpy as np
import picture
import tilewright

blur = tilewright.stencil("heat2d")


@tilewright.stencil
def perona_malik(t, i, j, u: tilewright.f32, edge=0.15, rate=0.2):
    """P. Perona and J. Malik, IEEE PAMI 12 (1990): the flow to each neighbour is d / (1 + (d / edge)^2)."""
    up = u[t, i-1, j] - u[t, i, j]
    down = u[t, i+1, j] - u[t, i, j]
    left = u[t, i, j-1] - u[t, i, j]
    right = u[t, i, j+1] - u[t, i, j]
    scale = 1 / (edge * edge)
    u[t+1, i, j] = u[t, i, j] + rate * (
        up / (1 + scale * up * up)
        + down / (1 + scale * down * down)
        + left / (1 + scale * left * left)
        + right / (1 + scale * right * right)
    )


# A picture with edges, and noise upon it.
y, x = np.mgrid[0:160, 0:160]
clean = 0.3 + 0.5 * ((x - 90) ** 2 + (y - 70) ** 2 < 45**2) - 0.2 * ((abs(x - 50) < 25) & (abs(y - 110) < 30))
noisy = (clean + 0.08 * np.random.default_rng(1).standard_normal(clean.shape)).astype(np.float32)

blurred = blur.run(noisy, steps=12, a=0.2, b=0.2)
kept = perona_malik.run(noisy, steps=25)


def error(picture):
    return float(np.sqrt(((picture - clean) ** 2).mean()))


print(f"error: noisy {error(noisy):.3f}, blurred {error(blurred):.3f}, edges kept {error(kept):.3f}")
assert error(kept) < error(blurred) < error(noisy)
picture.save("blur", np.hstack([noisy, blurred, kept]), low=0, high=1, colours="grey", scale=2)
