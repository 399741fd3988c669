/* Random knots of controls, the controls between them, and averages of knots. */

INLINE real NAME(clipped)(real x, double lower, double upper)
{
    const real low = lower - (real){0}, high = upper - (real){0};
    x = SELECT(x < low, low, x);
    return SELECT(x > high, high, x);
}

/* x <- M x, of nu numbers each; work holds them */
INLINE void NAME(mix_numbers)(ptrdiff_t nu, const double *M, double *x, real *work)
{
    for (ptrdiff_t j = 0; j < nu; j++) work[j] = READ(x, j);
    for (ptrdiff_t j = 0; j < nu; j++) {
        real sum = M[j * nu] * work[0];
        for (ptrdiff_t i = 1; i < nu; i++) sum += M[j * nu + i] * work[i];
        AT(x, j) = sum;
    }
}

static void NAME(draw)(const Spline *c, uint64_t key, uint64_t first, const double *nominal, const double *scale, double *x,
                       double *work)
{
    const ptrdiff_t nu = c->nu, entries = c->knots * nu;
    PASSES {
        bits own;
        real other = {0}, moved = other + 1.0;
        for (int i = 0; i < WIDTH; i++) {
            own[i] = random_bits(key, first + (uint64_t)(l + i));
            moved[i] = first + (uint64_t)(l + i) == 0 ? 0.0 : 1.0;
        }
        for (ptrdiff_t e = 0; e < entries; e++) {
            real normal = other;
            if (e % 2 == 0) NAME(normal_pair)(own, (uint64_t)e, &normal, &other);
            AT(x + l, e) = scale[e] * (moved * normal);
        }
        for (ptrdiff_t e = 0; e < entries; e += nu) {
            if (c->mix) NAME(mix_numbers)(nu, c->mix, x + l + e * LANES, (real *)work);
            for (ptrdiff_t j = 0; j < nu; j++)
                AT(x + l, e + j) = NAME(clipped)(nominal[e + j] + READ(x + l, e + j), c->lower[j], c->upper[j]);
        }
    }
}

/* u <- controls of a step, sums of `order` knots */
INLINE void NAME(sum_knots)(const Spline *c, ptrdiff_t order, const double *weight, const double *knots, double *u)
{
    PASSES
        for (ptrdiff_t j = 0; j < c->nu; j++) {
            real sum = weight[0] * READ(knots + l, j);
            for (ptrdiff_t k = 1; k < order; k++) sum += weight[k] * READ(knots + l, k * c->nu + j);
            AT(u + l, j) = NAME(clipped)(sum, c->lower[j], c->upper[j]);
        }
}

static void NAME(control)(const Spline *c, ptrdiff_t t, const double *knots, double *u)
{
    const double *weight = c->weight + t * c->order;
    knots += c->first[t] * c->nu * LANES;
    if (c->order == 2) NAME(sum_knots)(c, 2, weight, knots, u);
    else NAME(sum_knots)(c, c->order, weight, knots, u);
}

static void NAME(apply)(ptrdiff_t n, ptrdiff_t entries, const ptrdiff_t *row, const ptrdiff_t *column, const double *factor,
                        const double *u, double *forces)
{
    PASSES
        for (ptrdiff_t e = 0, k = 0; e < n; e++) {
            real sum = {0};
            for (; k < entries && row[k] == e; k++) sum += factor[k] * READ(u + l, column[k]);
            AT(forces + l, e) = sum;
        }
}

/* The samples of a lane are added one after the other, and the lanes then: in one order, whatever the registers. */
static void NAME(average)(ptrdiff_t blocks, ptrdiff_t entries, const double *weight, const double *x, double *result)
{
    double sums[LANES] __attribute__((aligned(64)));
    for (ptrdiff_t e = 0; e < entries; e++) {
        PASSES {
            real sum = {0};
            for (ptrdiff_t b = 0; b < blocks; b++) sum += READ(weight + l, b) * READ(x + l, b * entries + e);
            AS(real, sums + l) = sum;
        }
        result[e] = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }
}

static void NAME(add_doubt)(ptrdiff_t n, const double *x, double *cost)
{
    PASSES
        for (ptrdiff_t e = 0; e < n; e++) AS(real, cost + l) += 0.0 * READ(x + l, e);
}
