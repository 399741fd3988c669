/* State of a robot, at which inverse dynamics are differentiated. */
#ifndef TREEFACTOR_STATE_H
#define TREEFACTOR_STATE_H

typedef struct { const double *q, *v, *a, *fext; } State;     /* fext: 6 per joint, in its axes; NULL: zero */

#endif
