"""Define the methods of `Kernels` that close loops by generated functions."""

from __future__ import annotations

import numpy as np

from ._function_calls import FunctionCalls


class LoopCalls(FunctionCalls):
    """Methods of `Kernels` for models with loops."""

    def loops(self, q, v, tau, out=None, num_threads: int = 1) -> np.ndarray:
        """Compute accelerations with all loops closed, shape (..., nv).

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configurations with closed loops.
        v, tau : array_like, shape (..., nv)
            Velocities, of which only those of ``Program.independent`` are read, and generalized forces.
        out : ndarray, optional
        num_threads : int
        """
        return self._call("loops", (q, v, tau), out, num_threads)

    def loop_velocity(self, q, v, out=None, num_threads: int = 1) -> np.ndarray:
        """Compute dependent velocities from those of ``Program.independent``; all, shape (..., nv)."""
        return self._call("loop_velocity", (q, v), out, num_threads)

    def loop_step(self, q, out=None, num_threads: int = 1) -> np.ndarray:
        """Compute the Newton step in v that closes the loops, 0 for independent entries, shape (..., nv)."""
        return self._call("loop_step", (q,), out, num_threads)

    def loop_gap(self, q, out=None, num_threads: int = 1) -> np.ndarray:
        """Compute the residual of the loops, shape (..., rows).

        The residual of `treefactor.constraints.loop_rows`: for each loop the vector from its first to its
        second point in axes of its first frame, in m, then cosines of the angles that must be 90 degrees.
        """
        return self._call("loop_gap", (q,), out, num_threads)

    def position_closure(self, q, out=None, num_threads: int = 1) -> np.ndarray:
        """Compute q with all loops closed from the positions of ``Program.independent``, shape (..., nq).

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configurations, of which only the positions of ``Program.independent`` are read. Angles of the
            result are between -pi and pi.
        out : ndarray, optional
        num_threads : int

        Raises
        ------
        ConfigurationError
            If the loops cannot be closed for a single configuration; names the loop. In a batch the result
            of that configuration is NaN.
        """
        return self._call("position_closure", (q,), out, num_threads)
