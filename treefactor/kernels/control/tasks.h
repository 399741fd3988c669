/* Errors and Jacobians of the tasks of inverse kinematics, of one register of lanes. Arrays of `real` in scratch belong to
 * one register; arrays of State have 8 lanes.
 *
 *     frame:      e = log(M^-1 M*), or where rows are left out, R^T (p* - p) and log(R^T R*)
 *     relative:   the same with M = M_root^-1 M_frame
 *     mass:       e = c* - c
 * Rows are multiplied by the square roots of their costs. Jacobians are those of M in its own axes; that of the
 * logarithm, which tends to the unit matrix with e, is left out.
 */

/* R, p <- placement of a frame, or relative to that of the root */
INLINE void NAME(read_place)(const SearchTask *t, double *const *x, int l, real *R, real *p)
{
    NAME(read_pose)(x[t->place] + l, R, p);
    if (t->kind == RELATIVE_FRAME_TASK) {
        real S[9], s[3], from[9], way[3];
        NAME(read_pose)(x[t->root_place] + l, S, s);
        EACH(e, 9) from[e] = R[e];
        EACH(r, 3) way[r] = p[r] - s[r];
        NAME(multiply_back)(S, from, R);
        ROTATE_BACK(S, way, p);
    }
}

/* d, w <- way and rotation vector from a frame to its target, in the axes of the frame; v <- linear part of the
 * logarithm. For a point v = d. */
INLINE void NAME(task_errors)(const SearchTask *t, double *const *x, const double *target, int l, real *d, real *v, real *w)
{
    const double *to = target + t->target * 8 + l;
    if (t->kind == COM_TASK) {
        EACH(r, 3) v[r] = d[r] = READ(to, r) - READ(x[t->place] + l, r);
        return;
    }
    real R[9], p[3], S[9], s[3], way[3], E[9];
    NAME(read_place)(t, x, l, R, p);
    NAME(read_pose)(to, S, s);
    EACH(r, 3) way[r] = s[r] - p[r];
    ROTATE_BACK(R, way, d);
    EACH(r, 3) v[r] = d[r];
    if (!t->angle) return;
    NAME(multiply_back)(R, S, E);
    if (t->coupled) NAME(log_pose)(E, d, v, w);
    else NAME(log_pose)(E, NULL, NULL, w);
}

/* Return the squared length of the rows of an error that have a cost. */
INLINE real NAME(square_of_rows)(const double *weight, const real *x)
{
    real sum = {0};
    EACH(r, 3) if (weight[r] > 0.0) sum += x[r] * x[r];
    return sum;
}

static void NAME(errors)(const Problem *p, State *s)
{
    const double by_position = 1.0 / (p->tolerance[0] * p->tolerance[0]);
    const double by_angle = 1.0 / (p->tolerance[1] * p->tolerance[1]);
    PASSES {
        real *e = (real *)s->scratch + l / WIDTH * p->rows, ratio = {0}, square = {0};
        const real least = AS(real, s->least + l);
        for (const SearchTask *t = p->task; t < p->task + p->tasks; t++) {
            real d[3], v[3], w[3] = {ratio, ratio, ratio}, part;
            NAME(task_errors)(t, s->x, s->target, l, d, v, w);
            if (t->position) {
                part = by_position * NAME(square_of_rows)(t->weight, d);
                ratio = SELECT(part <= ratio, ratio, part);
                EACH(r, 3) {
                    e[r] = t->weight[r] * v[r];
                    square += e[r] * e[r];
                }
                e += 3;
            }
            if (t->angle) {
                part = by_angle * NAME(square_of_rows)(t->weight + 3, w);
                ratio = SELECT(part <= ratio, ratio, part);
                EACH(r, 3) {
                    e[r] = t->weight[3 + r] * w[r];
                    square += e[r] * e[r];
                }
                e += 3;
            }
        }
        ratio += 0.0 * square;       /* NaN where an error is not finite */
        AS(real, s->ratio + l) = ratio;
        AS(real, s->square + l) = square;
        AS(real, s->least + l) = SELECT(ratio < least, ratio, least);
        for (ptrdiff_t k = 0; k < p->nq; k++)
            AT(s->best + l, k) = SELECT(ratio < least, READ(s->q + l, k), READ(s->best + l, k));
    }
}

static void NAME(distances)(const Problem *p, const State *s, ptrdiff_t k, double *position, double *angle)
{
    const SearchTask *t = p->task + k;
    PASSES {
        const real zero = {0};
        real d[3], v[3], w[3] = {zero, zero, zero};
        NAME(task_errors)(t, s->x, s->target, l, d, v, w);
        AS(real, position + l) = t->position ? NAME(root)(NAME(square_of_rows)(t->weight, d)) : zero;
        AS(real, angle + l) = t->angle ? NAME(root)(NAME(square_of_rows)(t->weight + 3, w)) : zero;
    }
}

/* Add the columns of a Jacobian to those of a task, which begin at row `first` of J, times a sign. Columns of J follow each
 * other. Those of the root are moved to the frame: its velocity there, in the axes R of the frame. */
INLINE void NAME(add_columns)(const SearchTask *t, const double *x, ptrdiff_t count, const ptrdiff_t *column, const real *R,
                              const real *p, ptrdiff_t rows, real *J)
{
    for (ptrdiff_t c = 0; c < count; c++) {
        if (column[c] < 0) continue;
        real *to = J + column[c] * rows, s[6], moved[6];
        const int entries = t->kind == COM_TASK ? 3 : 6;
        for (int r = 0; r < entries; r++) s[r] = READ(x, r * count + c);
        if (R) {
            ADD_CROSS(s + 3, p, s);
            ROTATE_BACK(R, s, moved);
            ROTATE_BACK(R, s + 3, moved + 3);
            EACH(r, 6) s[r] = -moved[r];
        }
        if (t->position) EACH(r, 3) to[r] += t->weight[r] * s[r];
        if (t->angle) EACH(r, 3) to[3 * t->position + r] += t->weight[3 + r] * s[3 + r];
    }
}

/* J <- weighted Jacobian of all tasks: the rows of a column side by side */
INLINE void NAME(jacobian)(const Problem *p, const State *s, int l, real *J)
{
    const real zero = {0};
    ptrdiff_t first = 0;
    for (ptrdiff_t k = 0; k < p->rows * p->columns; k++) J[k] = zero;
    for (const SearchTask *t = p->task; t < p->task + p->tasks; t++) {
        NAME(add_columns)(t, s->x[t->jacobian] + l, t->columns, t->column, NULL, NULL, p->rows, J + first);
        if (t->kind == RELATIVE_FRAME_TASK) {
            real R[9], way[3];
            NAME(read_place)(t, s->x, l, R, way);
            NAME(add_columns)(t, s->x[t->root_jacobian] + l, t->root_columns, t->root_column, R, way, p->rows,
                              J + first);
        }
        first += 3 * (t->position + t->angle);
    }
}
