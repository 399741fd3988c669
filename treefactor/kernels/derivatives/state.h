/* State of a robot, at which inverse dynamics are differentiated. */
#ifndef TREEFACTOR_STATE_H
#define TREEFACTOR_STATE_H

typedef struct {
    const double *q, *v, *a, *fext;  /* fext: 6 per joint, in its axes; NULL: zero */
    int moved;                       /* 1: the workspace holds motions and forces of this state, from an earlier call */
} State;

#endif
