"""Step a model through time with impulses: loops, contacts with friction and limits form one problem.

Tasora, Manconi, Silvestri (2.5), h the step and K the stabilization:

    M (v_new - v) - C_q^T gamma_C - D_q^T gamma_D = h Q
    C_q v_new + (K/h) C + C_t = 0,   D_q v_new + (K/h) D >= 0  _|_  gamma_D >= 0,   q_new = q + h v_new

C_t is the mean rate of prescribed motions over the step, so that drives are where they should be after it.
A gap that is open may close within the step, K = 1 there. Friction is the convex relaxation of Anitescu and
Tasora (2010) with a polyhedral cone: the rows of a normal n and tangents t_j are n + mu t_j. It
lifts what slides at the velocity v by h mu v, and what begins to slide at once hops with mu v. Or it is a
box: rows n, and, unless the normal impulse of the step before was zero, rows t_j and -t_j with impulses up to
mu times that. It lifts nothing, but lags by a step: what lands slides for one, and is held too firmly in the
next.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial

import numpy as np

from .. import mlcp
from .._util.other_names import explain_other_names
from .._util.validation import (
    Sealed,
    as_count,
    as_number,
    as_size,
    as_tuple,
    check_choice,
)
from ..dynamics.inertias import Inertias, changed_model
from ..dynamics.recursions import motion
from ..exceptions import NonFiniteError, StepError
from ..kinematics.jacobians import BodyMotions
from ..linalg.solve_multiply import multiply
from ..mlcp._input_copies import find_not_finite
from ..mlcp._stacked_rows import SortedRows, vector
from ..mlcp.problem import solve_from
from ..model.model import Model, require_model
from ._contradictions import contradiction
from ._joint_integration import JointIntegrator
from ._runs import run
from ._shape_contacts import NOTHING_CARRIED
from ._step_derivatives import StepDerivatives, step_derivatives
from ._step_records import SOLUTIONS, TOUCHING, LastStep, Solved, Unilateral
from ._unilateral_rows import (
    UnilateralRows,
    bounds_of_removal,
    by_contacts,
    impulses_of,
    match_warm_start,
)
from .contacts import Contacts, Touch, limits_of
from .drives import Drive, steps_at
from .free_motion import FreeMotion, is_steady, joint_integrator
from .loops import Loops, driven_loops
from .trajectory import Step, Trajectory

FACETS, FRICTION, GYROSCOPIC = (4, 8), ("pyramid", "box"), ("implicit", "explicit")
CORRECTIONS = ("velocity", "split")
SLOW = 2.0  # times the speed that gravity gives in a step: what approaches more slowly does not rebound
NOISE = 1e-9  # relative to momenta; a smaller normal impulse gives friction the bound zero
FORCES = "add external forces to tau of step or run, as J.T @ force with the Jacobian J of where they act"
STEP = "the step is h, in s, of the Stepper: Stepper(model, contacts, h=...)"


class Stepper(Sealed):
    """Step a model through time; the impulses of the last step are the first guess of the next.

    Parameters
    ----------
    model : Model
        Its loops stay closed.
    contacts : sequence of Contact
    h : float
        Step, s.
    limits : bool
        Keep joints within their limits: joints with one velocity per position that mimic no other joint.
    stabilization : float
        K, from 0 to 1: the share of a loop error, an overlap or a limit violation that a step removes.
    facets : {4, 8}
        Facets of the friction cones, which are inscribed in the round ones: friction is at most mu times the
        normal force along the edges, between them down to cos(pi / facets) times that. A box has 4.
    friction : {"pyramid", "box"}
        Model of friction: the convex relaxation, or bounds from the normal impulses of the last step.
    margin : float
        Gap in m beyond which contacts are left out; it must exceed what any body moves in a step. Points of
        shapes are left out also if they would not touch at twice the present speed, unless they then overlap
        by more than 0.25 mm after the step: it is solved again with these, at most twice.
    gyroscopic : {"implicit", "explicit"}
        Time integration of forces that depend on the velocity. "implicit" is the midpoint rule: bodies that
        spin freely keep their energy, mechanisms without friction keep theirs up to oscillations. "explicit"
        evaluates these forces at the beginning of the step, so that fast spins gain energy: 12 % in 2 s for
        h = 5 ms and a body with moments of inertia 1 : 2 : 3 at 10 rad/s.
    drives : sequence of Drive
        Motors with prescribed motion, with forces of any size.
    inertias : Inertias or array_like, shape (njoints, 10), optional
        One set in the place of the model's. It is copied into ``model``: later changes of it have no effect.
    correction : {"velocity", "split"}
        How overlaps and limit violations are removed: "velocity" by the velocity after the step, which keeps
        it, so that a body which begins deep in another one leaves it fast; "split" by a motion of its own,
        whose velocity is not kept. Where no motion removes an overlap, "split" leaves it.

    Raises
    ------
    InvalidModelError
        If a contact names a body that the model does not have, or a drive moves nothing of it.
    ValueError, DtypeError, ShapeError, NonFiniteError
        If an argument is out of range, or has the wrong type or shape.

    Notes
    -----
    Thread-compatible.

    Only `step` and `run` change it. Picklable.

    A contact with a restitution e that closes in a step, faster than gravity accelerates in two, opens with e
    times its speed v of approach before the step, from where it is then, up to h v above the surface: a ball
    bounces to the height that it fell from for e = 1, otherwise to e^2 of it and up to
    (1 - e)(1 + 1.5 e) h v more, besides terms of h^2. All contacts rebound at once: a ball
    that hits four in a row that touch gives them speeds of 0.4, and has -0.6 itself, for e = 1. If gaps are
    wider than what the ball moves in a step, only the last one moves in the end.

    Gaps are taken as linear in the velocities: where a body turns by the angle a in a step, a point at the
    distance r from the axis may overlap by r a^2 / 2 after it.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> from treefactor.constraints import Contact, Sphere, Stepper
    >>> ball = tf.Joint("ball", "freeflyer", inertia=tf.Inertia(1.0, tensor=0.004 * np.eye(3)))
    >>> stepper = Stepper(tf.Model([ball]), [Contact(Sphere(0, radius=0.1), mu=0.5)], h=0.01)
    >>> fall = stepper.run([0, 0, 1.0, 0, 0, 0, 1], np.zeros(6), 100)
    >>> fall.q[-1, 2].round(6)
    np.float64(0.1)
    """

    model: Model
    h: float
    stabilization: float
    margin: float
    friction: str
    correction: str
    gyroscopic: str
    drives: tuple[Drive, ...]
    _contacts: Contacts
    _loops: Loops
    _integrator: JointIntegrator
    _is_implicit: bool
    _motion: FreeMotion | None  # made when it is first needed
    _limits: tuple[np.ndarray, ...]
    _rows: UnilateralRows
    _correction: UnilateralRows | None  # rows of the motion that removes overlaps, without friction
    _pressed: np.ndarray  # normal impulses of the last step, by slots
    _last: LastStep | None

    @explain_other_names(dt=STEP, timestep=STEP, time_step=STEP, fext=FORCES, f_ext=FORCES)
    def __init__(
        self,
        model: Model,
        contacts=(),
        h: float = 1e-3,
        limits: bool = True,
        stabilization: float = 0.2,
        facets: int = 4,
        margin: float = np.inf,
        friction: str = "pyramid",
        gyroscopic: str = "implicit",
        drives=(),
        inertias=None,
        correction: str = "velocity",
    ):
        require_model(model)
        model = changed_model(model, inertias)
        h, stabilization = as_number(h, "h"), as_number(stabilization, "stabilization")
        if h <= 0.0:
            raise ValueError(f"h must be positive, got {h}")
        if not 0.0 <= stabilization <= 1.0:
            raise ValueError(f"stabilization must be from 0 to 1, got {stabilization}")
        if as_count(facets, "facets") not in FACETS:
            raise ValueError(f"facets must be one of {FACETS}, got {facets}")
        check_choice("friction", friction, FRICTION)
        check_choice("gyroscopic", gyroscopic, GYROSCOPIC)
        check_choice("correction", correction, CORRECTIONS)
        if friction == "box" and facets != 4:
            raise ValueError(f"a box of friction has 4 facets, got {facets}")
        own = vars(self)
        own.update(h=h, stabilization=stabilization, margin=as_size(margin, "margin"))
        own.update(friction=friction, correction=correction)
        own.update(_contacts=Contacts(model, as_tuple(contacts, "contacts"), h))
        own["drives"], own["_loops"] = driven_loops(model, drives)
        own.update(gyroscopic=gyroscopic, _last=None)
        self._take_inertias(model)
        own["_limits"] = limits_of(model) if limits else tuple(x[:0] for x in limits_of(model))
        forms, boxed = _forms(friction, facets), friction == "box"
        mu, split = self._contacts.mu, correction == "split"
        share = 0.0 if split else stabilization
        restitution, slow = self._contacts.restitution, SLOW * h * float(np.linalg.norm(model.gravity))
        common = NOISE, restitution, slow
        own["_rows"] = UnilateralRows(mu, forms, boxed, self._limits, h, share, *common)
        common = NOISE, 0.0 * restitution, slow
        smooth = UnilateralRows(0.0 * mu, forms, False, self._limits, h, stabilization, *common)
        own["_correction"] = smooth if split else None
        own["_pressed"] = np.zeros(len(self._contacts.mu))

    @property
    def slow_pairs(self) -> int:
        """Number of contacts whose points coal finds: with the GIL, one after another in all threads."""
        return self._contacts.slow_pairs

    @explain_other_names(dt=STEP, h=STEP, fext=FORCES, f_ext=FORCES)
    def step(self, q, v, tau=None, t: float = 0.0) -> Step:
        """Take one step.

        Parameters
        ----------
        q, v : array_like, shape (nq,) and (nv,)
        tau : array_like, shape (nv,), optional
            Forces of the joints, N, N m; zero by default.
        t : float
            Time at the beginning of the step, s: drives move as prescribed from t to t + h.

        Returns
        -------
        Step

        Raises
        ------
        StepError
            If no velocities fulfil the constraints, which it names, or the solver finds none; the stepper is
            unchanged then.
        NotPositiveDefiniteError, ShapeError, NonFiniteError, ConfigurationError
        """
        q, v, tau = self._state(q, v, tau)
        made = self._solved(q, v, tau, t)
        touch, rows, solution = made.touch, made.rows, made.solution
        q_new, v_new = self._integrator.advanced(q, solution.v, self.h)
        if made.removal is not None:
            q_new = self._integrator.advanced(q, solution.v + made.removal[1].v, self.h)[0]
        if find_not_finite(q_new) >= 0 or find_not_finite(v_new) >= 0:
            raise StepError("no step from here: numbers overflow", solution)
        own = vars(self)
        symbolic, impulses = solution.problem._symbolic, (solution.gamma_c, solution.gamma)
        own["_last"] = LastStep(touch.identities, rows.key, *impulses, solution.active, symbolic)
        if self.friction == "box":
            near, made_of = (touch.start, touch.column), (rows.of, rows.along)
            normal = self._rows.normal_impulses(*near, *made_of, solution.gamma, solution.problem.g)
            own["_pressed"] = pressed = np.zeros_like(self._pressed)
            pressed[touch.which] = normal
        contacts, bilateral = self._contacts, solution.gamma_c
        impulses = impulses_of(touch.axes, rows.of, rows.along, solution.gamma)
        gap, impulse = by_contacts(len(contacts.structs), contacts.owner, touch.which, touch.gap, impulses)
        of_loops, of_drives = bilateral[: len(self._loops.of)], bilateral[self._loops.driven]
        points = contacts.points(touch, impulses)
        return Step(q_new, v_new, gap, impulse, of_loops, solution, of_drives, points)

    def derivatives(self, q, v, tau=None, t: float = 0.0) -> StepDerivatives:
        """Differentiate the step that `step` would take now, by q, v and tau; the stepper is unchanged.

        Parameters
        ----------
        q, v, tau, t
            As for `step`.

        Returns
        -------
        StepDerivatives
            With a status: derivatives do not exist where contacts open, close, stick or slide; they are NaN
            there. Bounds of box friction, which are from the step before, do not change.

        Raises
        ------
        InvalidModelError
            If a contact acts of a cylinder, cone or ellipsoid with another shape than a plane, or of a
            surface; names it.
        StepError, NotPositiveDefiniteError, ShapeError, NonFiniteError, ConfigurationError
            As `step`.

        Notes
        -----
        `treefactor.mlcp.sensitivity` of the step's problem, with the derivatives of its rows and momenta. By
        q along `treefactor.integrate`, before and after the step. With ``correction="split"`` the motion that
        removes overlaps is differentiated alike.

        Shapes keep the features that touch: a corner on a face, two edges, the lowest point of a rim. Where
        others begin to touch within rounding errors, as of cubes that lie flush on each other, parallel
        capsules and cylinders that stand upright exactly, derivatives by q are NaN. So are those by motions
        that tilt a horizontal normal, where friction acts: its directions jump there. All derivatives are NaN
        where points act that a step adds after a first solution, as after the impact of a fast limb. Which
        points of a pair are taken, of faces or edges that separate alike, counts as fixed.

        Examples
        --------
        A ball slides: the friction slows it down by h mu g, whatever its speed.

        >>> import numpy as np, treefactor as tf
        >>> from treefactor.constraints import Contact, Sphere, Stepper
        >>> ball = tf.Joint("ball", "translation", inertia=tf.Inertia(1.0))
        >>> stepper = Stepper(tf.Model([ball]), [Contact(Sphere(0, radius=0.1), mu=0.5)], stabilization=1)
        >>> D = stepper.derivatives([0, 0, 0.1], [2.0, 0, 0])
        >>> D.status.name, D.dv_dv[0].round(6) + 0.0
        ('STRICT', array([0.8, 0. , 0.4]))
        """
        q, v, tau = self._state(q, v, tau)
        return step_derivatives(self, self._solved(q, v, tau, t), q, v)

    @explain_other_names(dt=STEP, h=STEP, fext=FORCES, f_ext=FORCES)
    def run(
        self,
        q,
        v,
        steps: int,
        tau: Callable | np.ndarray | None = None,
        num_threads: int = 1,
        keep_steps: bool = True,
        inertias=None,
        mu=None,
    ) -> Trajectory:
        """Take many steps, from one state or from those of a batch of worlds.

        Parameters
        ----------
        q, v : array_like, shapes (..., nq) and (..., nv)
            Initial states. Leading axes are a batch; an array without them applies to every world. Each world
            starts with the last step of this stepper as first guess and then keeps its own; a batch leaves
            the stepper unchanged.
        steps : int
        tau : callable or array_like, optional
            ``tau(t, q, v)`` of one world, or one force for all steps, (nv,), or one for each, (steps, nv), or
            for each of every world, (..., steps, nv). Worlds call it in their threads.
        num_threads : int
            For batches; -1 uses all cores. No bit of the results depends on it.
        keep_steps : bool
            False leaves ``Trajectory.steps`` empty. That saves memory, because every step keeps its problem,
            and time: steps without loops and drives are compiled as a whole.
        inertias : Inertias or array_like, shape (njoints, 10) or (..., njoints, 10), optional
            In the place of the model's: one set for all worlds, or one for each.
        mu : array_like, shape (contacts,) or (..., contacts), optional
            Coefficients of friction in the place of those of the contacts.

        Returns
        -------
        Trajectory

        Raises
        ------
        ValueError
            If steps is negative, mu is negative, or inertias belong to other joints.
        StepError
            With the time of the step that failed. Of a batch, all other worlds take their steps, then the
            error of the first one that failed is raised, with its index; so are the errors below.
        NotPositiveDefiniteError, ShapeError, NonFiniteError, ConfigurationError
        """
        return run(self, q, v, steps, tau, num_threads, keep_steps, inertias, mu)

    def __copy__(self) -> Stepper:
        """Return a stepper with the same last step that shares no workspace with this one."""
        made = object.__new__(type(self))
        vars(made).update(vars(self), _motion=None)
        return made

    def _take_inertias(self, model: Model) -> None:
        """Take a model of the same joints, and what depends on the inertias of its bodies."""
        is_implicit = self.gyroscopic == "implicit" and not is_steady(model)
        vars(self).update(model=model, _integrator=joint_integrator(model))
        vars(self).update(_is_implicit=is_implicit, _motion=None)

    def _changed(self, inertias: Inertias | None, mu: np.ndarray | None) -> Stepper:
        """Return a copy with other inertias and coefficients of friction; None leaves them as they are."""
        made = copy(self)
        if inertias is not None:
            made._take_inertias(changed_model(self.model, inertias))
        if mu is not None:
            vars(made)["_rows"] = self._rows.with_friction(mu[self._contacts.owner])
        return made

    def _state(self, q, v, tau) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return a validated state and forces."""
        nv = self.model.nv
        q, v = vector(q, self.model.nq, "q"), vector(v, nv, "v")
        return q, v, np.zeros(nv) if tau is None else vector(tau, nv, "tau")

    def _solved(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, t: float) -> Solved:
        """State and solve the problem of a step."""
        at = BodyMotions(self.model, q, v)
        C, c = self._bilateral(at, q, t)
        try:
            g, H = self._free(q, v, tau)
            made, carried = self._solution(at, q, v, H, g, C, c, NOTHING_CARRIED), NOTHING_CARRIED
            if made[2].status is mlcp.Status.SOLVED:
                made, carried = self._complete(at, q, v, H, g, C, c, made)
        except NonFiniteError:
            raise StepError("no step from here: numbers overflow") from None
        touch, rows, solution = made
        if solution.status is not mlcp.Status.SOLVED:
            message = f"no step from here: the problem is {solution.status.name}"
            if solution.certificate is not None:
                message += f": {contradiction(self, touch, rows, solution.certificate)}"
            raise StepError(message, solution)
        removal = None
        if self._correction is not None and rows.gap.min(initial=0.0) < -TOUCHING:
            removal = self._removing(q, v, touch, H, C, solution.v)
        return Solved(touch, rows, H, solution, removal, carried)

    def _solution(
        self, at: BodyMotions, q, v, H, g, C, c, carried: np.ndarray
    ) -> tuple[Touch, Unilateral, mlcp.Solution]:
        """Find near contacts, with those that were carried back, and solve the problem with their rows."""
        before = None if self._last is None else self._last.identities
        touch = self._contacts.near(at, self.margin, before, carried)
        rows = self._unilateral(q, v, touch, self._rows)
        problem = mlcp.Problem(H, self.model.tree, g, C, c, rows.D, rows.d, rows.upper, layout="packed")
        return touch, rows, solve_from(problem, self._guess(rows.key))

    def _complete(
        self, at: BodyMotions, q, v, H, g, C, c, made: tuple[Touch, Unilateral, mlcp.Solution]
    ) -> tuple[tuple[Touch, Unilateral, mlcp.Solution], np.ndarray]:
        """Solve again with rows of points that had none and overlap after the step, unless that fails.

        Returns these points, too.

        An impact may turn a light foot fast. Points of it then come down that were higher than its speed
        before would let them, or not of the lowest face; on a curved shape, others than those that touched.
        """
        shapes, carried = self._contacts.shapes, NOTHING_CARRIED
        for _ in range(1, SOLUTIONS):
            identities, u = made[0].identities, made[2].v
            if shapes is None or identities is None:
                break
            moving, ahead = BodyMotions(self.model, q, u).frames, partial(self._ahead, q, u)
            more = shapes.overlooked(at.frames, moving, ahead, self.margin, identities)
            if not len(more):
                break
            every = np.concatenate([carried, more])
            again = self._solution(at, q, v, H, g, C, c, every)
            if again[2].status is not mlcp.Status.SOLVED:
                break
            made, carried = again, every
        return made, carried

    def _ahead(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return the kinematics records of the state after a step with the velocity u."""
        return BodyMotions(self.model, *self._integrator.advanced(q, u, self.h)).frames

    def _removing(
        self, q, v, touch: Touch, H: np.ndarray, C, v_new: np.ndarray
    ) -> tuple[Unilateral, mlcp.Solution] | None:
        """Solve for the velocity that, added to v_new, removes a share of overlaps; None if no motion does.

        Gaps that v_new leaves open stay open.
        """
        rows = self._unilateral(q, v, touch, self._correction)
        d = bounds_of_removal(*rows.D[:3], rows.d, rows.gap, v_new)
        rest, c = np.zeros(self.model.nv), None if C is None else np.zeros(len(C.start) - 1)
        problem = mlcp.Problem(H, self.model.tree, rest, C, c, rows.D, d, layout="packed")
        on = np.concatenate([np.ones(len(problem.c), bool), d >= 0.0])
        solution = solve_from(problem, (np.zeros(len(on)), on))
        return (rows, solution) if solution.status is mlcp.Status.SOLVED else None

    def _free(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute the momentum after the step without impulses, and the packed rows of H."""
        force, H = motion(self.model, q, v, tau)
        if self._is_implicit:
            return self._midpoint().momentum(H, q, v, tau - force) + self.h * tau, H
        turned = v + self.h * self._integrator.velocity_rates(v)
        return multiply(H, self.model.tree, turned, layout="packed") + self.h * force, H

    def _midpoint(self) -> FreeMotion:
        """Return the free motion by the midpoint rule, made when it is first needed."""
        motion = self._motion
        if motion is None:
            vars(self)["_motion"] = motion = FreeMotion(self.model, self._integrator, self.h)
        return motion

    def _bilateral(
        self, at: BodyMotions, q: np.ndarray, t: float
    ) -> tuple[SortedRows, np.ndarray] | tuple[None, None]:
        """Compute the rows of loops and driven joints, and their right-hand sides."""
        if not self.model.loops and not self.drives:
            return None, None
        motion, moved = steps_at(self.drives, t, self.h) if self.drives else (None, 0.0)
        rows = self._loops.rows(at, q, motion)
        J = SortedRows(rows.pattern.indptr, rows.pattern.indices, rows.data)
        c = -self.stabilization / self.h * rows.residual
        c[self._loops.driven] += moved / self.h
        return J, c

    def _unilateral(self, q, v, touch: Touch, rows: UnilateralRows) -> Unilateral:
        """Compute the rows of near contacts, then of limits; new points have no friction if it is a box."""
        pressed = self._pressed[touch.which]
        if touch.identities is not None:
            pressed[len(pressed) - len(touch.is_new) :][touch.is_new] = 0.0
        start, column, entries, d, upper, key, of, along, gap = rows.rows(
            *(touch.which, touch.gap, touch.start, touch.column, touch.data, touch.errors),
            *(q, v, pressed),
        )
        known = None if self._last is None else self._last.symbolic
        return Unilateral(SortedRows(start, column, entries, known), d, upper, key, of, along, gap)

    def _guess(self, key: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Match the rows of this step to impulses and row status of the last one; None in the first step."""
        if self._last is None:
            return None
        last = self._last
        impulse, on = match_warm_start(key, last.key, last.gamma_c, last.gamma, last.active)
        return None if find_not_finite(impulse) >= 0 else (impulse, on)


def _forms(friction: str, facets: int) -> np.ndarray:
    """Compute coefficients of normal and tangents in the rows of one contact, without mu: (rows, 3)."""
    angle = 2.0 * np.pi * np.arange(facets) / facets
    edges = np.stack([np.ones(facets), np.cos(angle), np.sin(angle)], axis=1).round(15)
    return edges if friction == "pyramid" else np.concatenate([[[1.0, 0.0, 0.0]], edges * [0.0, 1.0, 1.0]])
