/* Points at which two shapes touch. */
#ifndef TREEFACTOR_CONTACT_TOUCH_H
#define TREEFACTOR_CONTACT_TOUCH_H

#include "shapes.h"

/* Whether there is a kernel for a pair of kinds. */
int can_touch(int first, int second);

/* Make the table of points that may be farthest along directions, of 6 * side * side cells, side a power of 2. Work has room for
 * 2 + log2(side) numbers of every point, height for 5 of them. Returns how many items there are; at most most are written. */
int map_directions(const double *point, int points, int side, int *range, int *item, int most, int *work, double *height);

/* Write the points with gaps up to the margin; returns how many, at most MOST_POINTS. */
int touch(const ContactShape *a, const Pose *A, const ContactShape *b, const Pose *B, double margin,
          TouchPoint *points);

#endif
