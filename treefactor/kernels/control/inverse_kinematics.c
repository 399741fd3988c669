/* Batch inverse kinematics: searches side by side in lanes, which take targets, restart and finish apart from each other.
 *
 *     repeat:   places and Jacobians of all lanes;  errors;  finish, restart or refill lanes;  one step of all lanes
 *
 * What a lane computes depends on its target, its start and the seed only, never on its neighbours. */
#include <math.h>
#include <string.h>

#include "inverse_kinematics.h"
#include "../common/counters.h"

#define TEXT "kernels/control/inverse_kinematics_isa.h"
#include "../common/every_isa.h"

enum { EIGHT = 8 };
#define FALL 0.49                    /* of the squared error: by 30 % of the error */
#define PI 0x1.921fb54442d18p+1
#define INSIDE (1.0 - 1e-9)          /* of the squared tolerance, so that errors computed again are within it, too */

static double *take(char **memory, ptrdiff_t count)
{
    double *taken = (double *)*memory;
    *memory += (count * (ptrdiff_t)sizeof(double) + 63) / 64 * 64;
    return taken;
}

/* Set the pointers of a state; return the first byte behind all that they point to. */
static char *carve(const Problem *p, const SearchKernels *k, State *s, char *memory)
{
    s->q = take(&memory, EIGHT * p->nq);
    s->best = take(&memory, EIGHT * p->nq);
    s->start = take(&memory, EIGHT * p->nq);
    s->posture = take(&memory, EIGHT * p->nq);
    s->target = take(&memory, EIGHT * p->target_size);
    s->step = take(&memory, EIGHT * p->nv);
    s->toward = take(&memory, EIGHT * p->nv);
    s->ratio = take(&memory, EIGHT);
    s->least = take(&memory, EIGHT);
    s->square = take(&memory, EIGHT);
    s->running = (int64_t *)take(&memory, EIGHT);
    s->x = (double **)take(&memory, p->items);
    s->one = take(&memory, 2 * p->nq + p->nv);
    s->scratch = take(&memory, k->own->scratch_size(p));
    s->work = take(&memory, k->request->workspace_size(p->plan));
    return memory;
}

ptrdiff_t search_size(const Problem *p, const SearchKernels *k)
{
    State measured;
    ptrdiff_t size = (sizeof(State) + 63) / 64 * 64 + (carve(p, k, &measured, (char *)64) - (char *)64);
    for (ptrdiff_t i = 0; i < p->items; i++) size += EIGHT * p->item_size[i] * (ptrdiff_t)sizeof(double);
    return size;
}

State *carve_search(const Problem *p, const SearchKernels *k, char *memory)
{
    State *s = (State *)memory;
    memory = carve(p, k, s, memory + (sizeof(State) + 63) / 64 * 64);
    for (ptrdiff_t i = 0; i < p->items; i++) s->x[i] = take(&memory, EIGHT * p->item_size[i]);
    memset(s->step, 0, EIGHT * p->nv * sizeof(double));
    memset(s->toward, 0, EIGHT * p->nv * sizeof(double));
    return s;
}

/* Return a number in [0, 1) that depends on a key and a counter only. */
static double uniform(uint64_t key, ptrdiff_t counter)
{
    return (double)(random_bits(key, (uint64_t)counter) >> 11) * 0x1p-53;
}

/* Return a number for the seed and the bits of a target, so that starts do not depend on where in a batch it stands. */
static uint64_t key_of(uint64_t seed, const double *x, ptrdiff_t count)
{
    uint64_t key = mix(seed + GOLDEN);
    for (ptrdiff_t e = 0; e < count; e++) {
        double number = x[e] + 0.0;  /* -0.0 becomes 0.0 */
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        key = mix(key ^ bits) + GOLDEN;
    }
    return key;
}

static double clipped(const Problem *p, ptrdiff_t e, double q)
{
    return q < p->lower[e] ? p->lower[e] : q > p->upper[e] ? p->upper[e] : q;
}

/* x <- start of an attempt: the given one, or a random one */
static void place_start(const Problem *p, const SearchKernels *k, State *s, int lane)
{
    double *x = s->one, *v = x + p->nq;
    const ptrdiff_t attempt = s->lane[lane].attempt;
    for (ptrdiff_t e = 0; e < p->nq; e++) x[e] = s->start[EIGHT * e + lane];
    if (attempt > 0) {
        const uint64_t key = mix(s->team[lane / p->starts].key + (uint64_t)attempt);
        for (ptrdiff_t c = 0; c < p->columns; c++) {
            const Movable *f = p->movable + c;
            const double u = uniform(key, f->v), around = (2.0 * u - 1.0) * PI;
            if (f->q < 0) v[f->v] = around;
            else if (f->lower > -INFINITY && f->upper < INFINITY) x[f->q] = f->lower + (f->upper - f->lower) * u;
            else x[f->q] = fmax(fmin(x[f->q], f->upper - PI), f->lower + PI) + around;  /* within the only limit */
            if (f->q >= 0) x[f->q] = clipped(p, f->q, x[f->q]);
        }
        if (p->curved_count) k->one->integrate(p->curved, p->curved_count, x, v, 1.0, x);
    }
    for (ptrdiff_t e = 0; e < p->nq; e++) s->q[EIGHT * e + lane] = x[e];
}

/* Let a lane begin the next attempt of its team: after the step of the others, which it does not take. */
static void begin_attempt(State *s, Team *g, int lane)
{
    s->lane[lane] = (Lane){g->attempts++, 0, 1, INFINITY};
    s->running[lane] = 0;
}

static int is_finite(const double *x, ptrdiff_t count)
{
    double doubt = 0.0;
    for (ptrdiff_t e = 0; e < count; e++) doubt += 0.0 * x[e];
    return doubt == 0.0;
}

/* Return whether a target is farther away than the frame of a task can be. */
static int is_out_of_reach(const Problem *p, const double *target)
{
    for (const SearchTask *t = p->task; t < p->task + p->tasks; t++) {
        const double *x = target + t->target;
        if (!(t->reach < INFINITY)) continue;
        const double way[3] = {x[3] - t->origin[0], x[7] - t->origin[1], x[11] - t->origin[2]};
        const double far = sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
        if (far > (1.0 + 1e-12) * (t->reach + p->tolerance[0])) return 1;
    }
    return 0;
}

static void write_result(const Batch *b, ptrdiff_t target, const Team *g, int status)
{
    b->status[target] = (int8_t)status;
    b->iterations[target] = g->iterations;
    b->attempts[target] = g->attempts;
}

/* Copy a target and its start to a lane; return 0 if a number is not finite. */
static int load_lane(const Problem *p, const SearchKernels *k, const Batch *b, State *s, ptrdiff_t target, int lane)
{
    const double *to = b->target + target * b->target_step, *start = b->start + target * b->start_step;
    double *from = s->one;
    if (!is_finite(to, p->target_size) || !is_finite(start, p->nq)) return 0;
    k->one->normalize(p->runs, p->run_count, start, from);
    if (!is_finite(from, p->nq)) return 0;
    for (ptrdiff_t e = 0; e < p->nq; e++)
        from[e] = clipped(p, e, fabs(from[e] - start[e]) <= 1e-12 ? start[e] : from[e]);  /* keep every bit */
    for (ptrdiff_t e = 0; e < p->nq; e++) s->start[EIGHT * e + lane] = s->best[EIGHT * e + lane] = from[e];
    for (ptrdiff_t e = 0; e < p->target_size; e++) s->target[EIGHT * e + lane] = to[e];
    if (p->posture) {
        const double *posture = b->posture + target * b->posture_step;
        if (!is_finite(posture, p->nq)) return 0;
        for (ptrdiff_t e = 0; e < p->nq; e++) s->posture[EIGHT * e + lane] = posture[e];
    }
    s->least[lane] = INFINITY;
    return 1;
}

/* Give the lanes of a team the next target; none if all are taken. */
static void refill(const Problem *p, const SearchKernels *k, const Batch *b, State *s, int team)
{
    const int starts = (int)p->starts, first = team * starts;
    Team *g = s->team + team;
    while (s->next < s->stop) {
        const ptrdiff_t target = s->next++;
        *g = (Team){target, 0, 0, 0, 0};
        if (!load_lane(p, k, b, s, target, first)) {
            for (ptrdiff_t e = 0; e < p->nq; e++) b->q[target * p->nq + e] = NAN;
            write_result(b, target, g, NON_FINITE);
            continue;
        }
        g->key = key_of(p->seed, b->target + target * b->target_step, p->target_size);
        g->certified = is_out_of_reach(p, b->target + target * b->target_step);
        for (int lane = first; lane < first + starts; lane++) {
            if (lane > first) load_lane(p, k, b, s, target, lane);
            begin_attempt(s, g, lane);
        }
        return;
    }
    g->target = -1;
    for (int lane = first; lane < first + starts; lane++) s->running[lane] = 0;
}

/* Write the best q of a lane: angles of joints that turn without limits as near to the start as whole turns bring them. */
static void write_best(const Problem *p, const Batch *b, const State *s, ptrdiff_t target, int lane)
{
    const double turn = 2.0 * PI;
    double *q = b->q + target * p->nq;
    for (ptrdiff_t e = 0; e < p->nq; e++) q[e] = s->best[EIGHT * e + lane];
    for (ptrdiff_t c = 0; c < p->columns; c++) {
        const Movable *f = p->movable + c;
        if (f->turns) q[f->q] -= turn * rint((q[f->q] - s->start[EIGHT * f->q + lane]) / turn);
    }
}

/* Return the lane with the least error of a team, the first of several. */
static int best_lane(const Problem *p, const State *s, int team)
{
    const int first = team * (int)p->starts;
    int best = first;
    for (int lane = first + 1; lane < first + p->starts; lane++)
        if (s->least[lane] < s->least[best]) best = lane;
    return best;
}

static void finish(const Problem *p, const Batch *b, State *s, int team, int lane, int status)
{
    const Team *g = s->team + team;
    if (status == STALLED && g->certified) status = OUT_OF_REACH;
    write_best(p, b, s, g->target, lane);
    write_result(b, g->target, g, status);
    if (b->progress) b->progress[g->target] = sqrt(s->least[lane]);
}

/* After `errors`: let a team go on, with new attempts for lanes that stall, or finish it and give it the next target. */
static void decide(const Problem *p, const SearchKernels *k, const Batch *b, State *s, int team)
{
    const int first = team * (int)p->starts, stop = first + (int)p->starts;
    Team *g = s->team + team;
    int solved = -1, moving = 0, fresh = 0;
    for (int lane = first; lane < stop; lane++)
        if (s->running[lane] && s->ratio[lane] <= INSIDE &&
            (solved < 0 || s->lane[lane].attempt < s->lane[solved].attempt)) solved = lane;
    for (int lane = first; lane < stop && solved < 0; lane++) {
        Lane *own = s->lane + lane;
        if (!s->running[lane]) continue;
        if (s->square[lane] < FALL * own->mark) {
            own->mark = s->square[lane];
            own->waited = 0;
        } else
            own->waited++;
        if (own->waited < p->stall) moving++;
        else if (g->attempts < p->attempts && !g->certified) {
            begin_attempt(s, g, lane);
            fresh++;
        } else
            s->running[lane] = 0;
    }
    if (solved < 0 && moving + fresh && g->iterations + moving <= p->iterations) {
        g->iterations += moving;
        return;
    }
    if (solved >= 0) finish(p, b, s, team, solved, SOLVED);
    else {
        const int first_attempts = moving + fresh && g->attempts == p->starts;     /* none has stalled */
        finish(p, b, s, team, best_lane(p, s, team), first_attempts ? ITERATIONS : STALLED);
    }
    refill(p, k, b, s, team);
}

/* Place the lanes that have begun an attempt. */
static void place_starts(const Problem *p, const SearchKernels *k, State *s)
{
    for (int lane = 0; lane < EIGHT; lane++)
        if (s->lane[lane].fresh) {
            place_start(p, k, s, lane);
            s->lane[lane].fresh = 0;
            s->running[lane] = -1;
        }
}

void begin_search(const Problem *p, const SearchKernels *k, const Batch *b, State *s, ptrdiff_t first, ptrdiff_t stop)
{
    s->next = first;
    s->stop = stop;
    memset(s->q, 0, EIGHT * p->nq * sizeof(double));             /* lanes without a target compute, too */
    memset(s->posture, 0, EIGHT * p->nq * sizeof(double));
    memset(s->target, 0, EIGHT * p->target_size * sizeof(double));
    memset(s->running, 0, EIGHT * sizeof(int64_t));
    memset(s->lane, 0, sizeof s->lane);
    for (int lane = 0; lane < EIGHT; lane++) s->least[lane] = 0.0;
    for (int team = 0; team < EIGHT; team++) s->team[team].target = -1;
    for (int team = 0; team < EIGHT / p->starts; team++) refill(p, k, b, s, team);
    place_starts(p, k, s);
}

int continue_search(const Problem *p, const SearchKernels *k, const Batch *b, State *s, ptrdiff_t rounds)
{
    const int teams = EIGHT / (int)p->starts;
    int active = 0;
    for (ptrdiff_t round = 0; round <= rounds; round++) {
        active = 0;
        for (int team = 0; team < teams; team++) active |= s->team[team].target >= 0;
        if (!active || round == rounds) break;
        k->request->compute(p->plan, s->q, NULL, NULL, s->x, s->work);
        k->own->errors(p, s);
        if (p->posture) k->lanes->difference(p->runs, p->run_count, s->q, s->posture, s->toward);
        for (int team = 0; team < teams; team++)
            if (s->team[team].target >= 0) decide(p, k, b, s, team);
        k->own->improve(p, s);
        if (p->curved_count) k->lanes->integrate(p->curved, p->curved_count, s->q, s->step, 1.0, s->q);
        place_starts(p, k, s);
    }
    for (int team = 0; team < teams && b->progress; team++)
        if (s->team[team].target >= 0)
            b->progress[s->team[team].target] = sqrt(s->least[best_lane(p, s, team)]);
    return active;
}

void stop_search(const Problem *p, const SearchKernels *k, const Batch *b, State *s)
{
    for (int team = 0; team < EIGHT / p->starts; team++)
        while (s->team[team].target >= 0) {
            finish(p, b, s, team, best_lane(p, s, team), STOPPED);
            refill(p, k, b, s, team);
        }
}

void examine_results(const Problem *p, const SearchKernels *k, const Batch *b, State *s, ptrdiff_t first, ptrdiff_t stop)
{
    double position[EIGHT] __attribute__((aligned(64))), angle[EIGHT] __attribute__((aligned(64)));
    for (; first < stop; first += EIGHT) {
        const int count = stop - first < EIGHT ? (int)(stop - first) : EIGHT;
        for (int lane = 0; lane < EIGHT; lane++) {
            const ptrdiff_t target = first + (lane < count ? lane : 0);
            const double *q = b->q + target * p->nq, *to = b->target + target * b->target_step;
            for (ptrdiff_t e = 0; e < p->nq; e++) s->q[EIGHT * e + lane] = q[e];
            for (ptrdiff_t e = 0; e < p->target_size; e++) s->target[EIGHT * e + lane] = to[e];
        }
        k->request->compute(p->plan, s->q, NULL, NULL, s->x, s->work);
        for (int lane = 0; lane < count; lane++) b->position[first + lane] = b->angle[first + lane] = 0.0;
        for (ptrdiff_t t = 0; t < p->tasks; t++) {
            k->own->distances(p, s, t, position, angle);
            for (int lane = 0; lane < count; lane++) {
                const ptrdiff_t target = first + lane;
                double *error = b->error + (target * p->tasks + t) * 2;
                error[0] = position[lane];
                error[1] = angle[lane];
                if (!(position[lane] <= b->position[target])) b->position[target] = position[lane];
                if (!(angle[lane] <= b->angle[target])) b->angle[target] = angle[lane];
                if (b->status[target] == SOLVED &&
                    !(position[lane] <= p->tolerance[0] && angle[lane] <= p->tolerance[1]))
                    b->status[target] = STALLED;
            }
        }
    }
}
