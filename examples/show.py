"""Print figures of the examples' steps, and draw spheres, boxes and rods as polygons."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import treefactor as tf
from treefactor.constraints import Stepper, Trajectory, shape_placements
from treefactor.viewing import surface

CIRCLE = np.linspace(0.0, 2.0 * np.pi, 25)
FACES = [
    [0, 1, 3, 2],
    [4, 5, 7, 6],
    [0, 1, 5, 4],
    [2, 3, 7, 6],
    [0, 2, 6, 4],
    [1, 3, 7, 5],
]  # of a box's corners
COLOURS = (0.45, 0.55, 0.7), (0.85, 0.6, 0.35), (0.5, 0.65, 0.5), (0.65, 0.5, 0.65)  # by bodies
LIGHT = np.array([0.3, 0.5, 0.8])


def timed(stepper: Stepper, q, v, steps: int, tau=None) -> Trajectory:
    """Run a stepper and print what its steps took."""
    start = time.perf_counter()
    run = stepper.run(q, v, steps, tau)
    spent = time.perf_counter() - start
    solutions = [step.solution for step in run.steps]
    rows = max(s.problem.m for s in solutions)
    print(f"{steps} steps of {stepper.h:g} s: {stepper.model.nv} freedoms, up to {rows} rows")
    print(f"pivots          {np.mean([s.pivots for s in solutions]):8.1f} per step")
    print(f"factorizations  {np.mean([s.factorizations for s in solutions]):8.1f} per step")
    print(f"residual        {max(s.residual() for s in solutions):8.1e} at most")
    print(f"time            {1e3 * spent / steps:8.2f} ms per step")
    return run


def arguments(description: str, steps: int) -> argparse.Namespace:
    """Parse the command line of an example."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--out", type=Path, help="write an animation (.gif) or the last picture (.png)")
    return parser.parse_args()


@dataclass
class Camera:
    """Parallel projection.

    Parameters
    ----------
    azimuth, elevation : float
        Direction from which it looks, degrees.
    low, high : tuple of float
        Corners of the picture, m.
    """

    azimuth: float
    elevation: float
    low: tuple[float, float]
    high: tuple[float, float]

    def __post_init__(self):
        a, e = np.radians([self.azimuth, self.elevation])
        toward = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        self.axes = np.stack([right, np.cross(toward, right), toward])


class Picture:
    """Polygons with their depths and colours.

    Parameters
    ----------
    camera : Camera
    """

    def __init__(self, camera: Camera):
        self.camera, self.polygons = camera, []

    def add(self, corners: np.ndarray, depth: float, colour, shade: float = 1.0, edge: bool = True) -> None:
        """Add a polygon with corners (k, 2) in the picture, and a dark edge or none."""
        face = np.append(np.clip(np.array(colour) * shade, 0, 1), 1.0)
        self.polygons.append((depth, corners, face, np.array([0.2, 0.2, 0.2, 1.0]) if edge else face))

    def sphere(self, center, radius: float, colour) -> None:
        """Draw a sphere, lit from above, and its highlight."""
        *at, depth = self.camera.axes @ center
        ring = np.stack([np.cos(CIRCLE), np.sin(CIRCLE)], axis=1)
        self.add(at + radius * ring, depth, colour)
        self.add(at + radius * (0.3 * ring + [0.3, 0.35]), depth + 1e-6, 1 - 0.5 * (1 - np.array(colour)))

    def box(self, R, p, size, colour) -> None:
        """Draw the visible faces of a box."""
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        corners = p + signs * np.asarray(size) / 2 @ R.T
        for face in FACES:
            normal = R @ signs[face].mean(axis=0)
            if self.camera.axes[2] @ normal > 0:
                seen = corners[face] @ self.camera.axes.T
                self.add(seen[:, :2], seen[:, 2].mean(), colour, 0.75 + 0.3 * LIGHT @ normal)

    def floor(self, low, high) -> None:
        """Draw a rectangle at z = 0, behind everything."""
        corners = np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])
        seen = np.column_stack([corners, np.zeros(4)]) @ self.camera.axes.T
        self.add(seen[:, :2], -np.inf, (0.85, 0.85, 0.85))

    def rod(self, a, b, width: float, colour) -> None:
        """Draw a round rod from a to b."""
        (*start, near), (*stop, far) = self.camera.axes @ a, self.camera.axes @ b
        way = np.subtract(stop, start)
        across = width / 2 * np.array([-way[1], way[0]]) / max(np.linalg.norm(way), 1e-12)
        self.add(
            np.array([start + across, stop + across, stop - across, start - across]), (near + far) / 2, colour
        )

    def surface(self, corners, triangles, colour) -> None:
        """Draw the visible triangles of a closed surface, corners (k, 3) counterclockwise from outside."""
        seen = corners @ self.camera.axes.T
        a, b, c = (corners[triangles[:, k]] for k in range(3))
        normals = np.cross(b - a, c - a)
        normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
        for k in np.flatnonzero(normals @ self.camera.axes[2] > 0.0):
            flat = seen[triangles[k]]
            self.add(flat[:, :2], flat[:, 2].mean(), colour, 0.75 + 0.3 * LIGHT @ normals[k], edge=False)

    def draw(self, axes) -> None:
        """Draw into axes of Matplotlib, the farthest polygons first."""
        from matplotlib.collections import PolyCollection

        axes.clear()
        axes.set(
            xlim=(self.camera.low[0], self.camera.high[0]), ylim=(self.camera.low[1], self.camera.high[1])
        )
        axes.set_axis_off()
        ordered = sorted(self.polygons, key=lambda polygon: polygon[0])
        corners, faces, edges = ([polygon[k] for polygon in ordered] for k in (1, 2, 3))
        axes.add_collection(PolyCollection(corners, facecolors=faces, edgecolors=edges, linewidths=0.4))


def painter(model: tf.Model, shapes, floor=None):
    """Return a function that paints the shapes of a robot; floor has two corners of a rectangle at z = 0."""
    surfaces = [surface(shape) for shape in shapes]
    colours = [COLOURS[tf.model.body_number(model, shape.body) % len(COLOURS)] for shape in shapes]

    def paint(picture, q):
        if floor:
            picture.floor(*floor)
        placed = shape_placements(model, shapes, q)
        for (corners, triangles), T, colour in zip(surfaces, placed, colours, strict=True):
            picture.surface(corners @ T[:, :3].T + T[:, 3], triangles, colour)

    return paint


def placements(model: tf.Model, q) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return rotation and origin of the bodies of all joints."""
    return [(T[:, :3], T[:, 3]) for T in tf.joint_placements(model, q)]


def save(path: Path, camera: Camera, run: Trajectory, paint, frames: int = 40) -> None:
    """Write an animation of a run, or a picture of its end; ``paint(picture, q)`` adds to the picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.animation import FuncAnimation, PillowWriter

    width, height = np.subtract(camera.high, camera.low)
    figure = plt.figure(figsize=(3.2, 3.2 * height / width), dpi=100)
    axes = figure.add_axes((0, 0, 1, 1))
    chosen = np.linspace(0, len(run.q) - 1, frames).round().astype(int)

    def show(k):
        picture = Picture(camera)
        paint(picture, run.q[k])
        picture.draw(axes)

    if path.suffix == ".gif":
        FuncAnimation(figure, show, chosen).save(path, PillowWriter(fps=frames / run.t[-1]))
    else:
        show(-1)
        figure.savefig(path)
    plt.close(figure)
