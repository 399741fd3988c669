/* Structs of batch inverse kinematics: tasks, what may move, and the search for configurations that fulfil the tasks.
 *
 * Eight searches run side by side, one in each lane. A lane whose target is reached takes the next target at once. */
#ifndef TREEFACTOR_INVERSE_KINEMATICS_H
#define TREEFACTOR_INVERSE_KINEMATICS_H

#include <stddef.h>
#include <stdint.h>

#include "../configurations/joints.h"
#include "../kinematics/request.h"

typedef enum { FRAME_TASK, RELATIVE_FRAME_TASK, COM_TASK } TaskKind;
typedef enum { SOLVED, STALLED, ITERATIONS, OUT_OF_REACH, NON_FINITE, STOPPED, RUNNING } Status;

typedef struct {
    ptrdiff_t kind;                  /* a TaskKind */
    ptrdiff_t place, root_place;     /* items of the request: placements, or the centre of mass */
    ptrdiff_t jacobian, root_jacobian;   /* items of the request */
    ptrdiff_t columns, root_columns; /* of these Jacobians */
    const ptrdiff_t *column, *root_column;   /* movable freedom of every column, or -1 */
    ptrdiff_t target;                /* first entry among those of all targets; poses have 12, points 3 */
    ptrdiff_t position, angle;       /* 1: the task has three rows of positions, of angles */
    ptrdiff_t coupled;               /* 1: the error is the logarithm of the pose, else position and angle apart */
    double weight[6];                /* square roots of the costs of the rows, linear before angular */
    double origin[3], reach;         /* no configuration takes the frame farther than `reach` from this point */
} SearchTask;

typedef struct {
    ptrdiff_t v, q;                  /* its entry in v; in q, or -1 if it belongs to a rotation or a free-flyer */
    ptrdiff_t turns;                 /* 1: 2 pi may be added to q */
    double lower, upper;             /* of q */
    double pull;                     /* cost of the distance from the posture */
} Movable;

typedef struct {
    const Plan *plan;                /* the request of all places and Jacobians */
    ptrdiff_t items;
    const ptrdiff_t *item_size;      /* entries of every item in lanes */
    ptrdiff_t nq, nv;
    const Coordinates *runs;         /* of all joints, and their number */
    ptrdiff_t run_count;
    const Coordinates *curved;       /* of the movable joints whose entries do not add up, and their number */
    ptrdiff_t curved_count;
    ptrdiff_t tasks, rows;           /* rows of all tasks */
    const SearchTask *task;
    ptrdiff_t target_size;           /* entries of the targets of one problem */
    ptrdiff_t columns;               /* movable freedoms */
    const Movable *movable;
    ptrdiff_t posture;               /* 1: there is one */
    double tolerance[2];             /* of positions (m) and angles (rad) */
    ptrdiff_t starts, stall, iterations, attempts;   /* side by side; see the Python function; attempts at most */
    uint64_t seed;
} Problem;

/* Arguments and results of all targets, rows; steps are 0 where all targets share a row, else entries of a row. */
typedef struct {
    const double *target, *start, *posture;
    ptrdiff_t target_step, start_step, posture_step;
    double *q, *position, *angle, *error;    /* error: position and angle of every task */
    int8_t *status;
    int64_t *iterations, *attempts;
    double *progress;                /* NULL, or largest error over tolerance so far */
} Batch;

typedef struct {
    ptrdiff_t attempt;
    ptrdiff_t waited;                /* iterations since the error fell */
    ptrdiff_t fresh;                 /* 1: its attempt has no q yet */
    double mark;                     /* squared error from which the next fall counts */
} Lane;

typedef struct {
    ptrdiff_t target;                /* or -1 */
    ptrdiff_t iterations, attempts;  /* attempts that have begun */
    int certified;                   /* the target is out of reach */
} Team;

/* Numbers of eight searches side by side: entry e of lane l at [8 e + l]. */
typedef struct {
    double *q, *best, *start, *posture, *target;
    double *step;                    /* nv */
    double *toward;                  /* nv; from q to the posture */
    double *ratio, *least;           /* squared largest error over tolerance, and the least one, of `best` */
    double *square;                  /* squared error */
    int64_t *running;                /* -1 or 0 */
    double **x;                      /* results of the request */
    double *work;                    /* of the request */
    double *scratch;                 /* of the kernels, one register of lanes at a time */
    double *one;                     /* 2 nq + nv entries of one configuration */
    Lane lane[8];
    Team team[8];
    ptrdiff_t next, stop;            /* targets that no lane has taken yet */
} State;

typedef struct {
    const char *name;
    /* doubles of scratch */
    ptrdiff_t (*scratch_size)(const Problem *);
    /* e <- weighted errors of all tasks in scratch; fills ratio and square, keeps q in `best` where ratio < least */
    void (*errors)(const Problem *, State *);
    /* one iteration of the lanes that run, after `errors`: moves and clips the entries of q that add up, fills step for
     * the others */
    void (*improve)(const Problem *, State *);
    /* position and angle errors of task t: at position[l], angle[l] */
    void (*distances)(const Problem *, const State *, ptrdiff_t t, double *position, double *angle);
} InverseKinematicsTable;

extern const InverseKinematicsTable inverse_kinematics_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const InverseKinematicsTable inverse_kinematics_avx2, inverse_kinematics_avx512;
#endif

/* What the searches call: kernels of this folder, of requests, and of configurations. */
typedef struct {
    const InverseKinematicsTable *own;
    const RequestKernels *request;
    const ConfigurationKernels *one, *lanes;
} SearchKernels;

/* Return the bytes of a state and what it points to; carve it from memory aligned to 64 bytes. */
ptrdiff_t search_size(const Problem *, const SearchKernels *);
State *carve_search(const Problem *, const SearchKernels *, char *memory);
/* Let the lanes take targets first .. stop-1. */
void begin_search(const Problem *, const SearchKernels *, const Batch *, State *, ptrdiff_t first, ptrdiff_t stop);
/* Iterate at most so many times; return whether a lane still runs. */
int continue_search(const Problem *, const SearchKernels *, const Batch *, State *, ptrdiff_t rounds);
/* Write the best q so far of targets that lanes work on or have not taken, with the status STOPPED. */
void stop_search(const Problem *, const SearchKernels *, const Batch *, State *);
/* Fill the errors of results first .. stop-1 from their q, and take SOLVED back where one exceeds its tolerance. */
void examine_results(const Problem *, const SearchKernels *, const Batch *, State *, ptrdiff_t first, ptrdiff_t stop);

#endif
