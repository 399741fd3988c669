/* Costs of 8 states side by side. */

/* r <- log(target^-1 pose) */
INLINE void NAME(pose_residual)(const double *x, const double *target, real *r)
{
    const real zero = {0};
    real R[9], p[3], S[9], way[3], turned[3], E[9];
    NAME(read_pose)(x, R, p);
    EACH(i, 3) {
        EACH(c, 3) S[3 * c + i] = zero + target[4 * i + c];
        way[i] = p[i] - target[4 * i + 3];
    }
    ROTATE_BACK(S, way, turned);
    NAME(multiply_back)(S, R, E);
    NAME(log_pose)(E, turned, r, r + 3);
}

/* Return the excess of q over limits; NaN stays. */
INLINE real NAME(excess)(real q, double lower, double upper)
{
    const real zero = {0}, under = q - lower, over = q - upper;
    return SELECT(over > zero, over, SELECT(under < zero, under, 0.0 * q));
}

static void NAME(add_cost)(const CostTerm *c, double time, const double *x, const double *target, double *cost)
{
    PASSES {
        real sum = {0}, r[6];
        switch (c->residual) {
        case POSE:
            NAME(pose_residual)(x + l, target, r);
            EACH(e, 6) sum += c->weight[e] * r[e] * r[e];
            break;
        case EXCESS:
            for (ptrdiff_t e = 0; e < c->size; e++) {
                r[0] = NAME(excess)(READ(x + l, c->entry[e]), c->lower[e], c->upper[e]);
                sum += c->weight[e] * r[0] * r[0];
            }
            break;
        case CHANGE:
            for (ptrdiff_t e = 0; e < c->size; e++) sum += c->weight[e] * READ(x + l, e) * READ(x + l, e);
            break;
        default:
            for (ptrdiff_t e = 0; e < c->size; e++) {
                r[0] = READ(x + l, e) - target[e];
                sum += c->weight[e] * r[0] * r[0];
            }
        }
        AS(real, cost + l) += 0.5 * time * sum;
    }
}

static void NAME(add_doubt)(ptrdiff_t n, const double *x, double *cost)
{
    PASSES
        for (ptrdiff_t e = 0; e < n; e++) AS(real, cost + l) += 0.0 * READ(x + l, e);
}
