/* Points at which two shapes touch. */
#ifndef TREEFACTOR_CONTACT_TOUCH_H
#define TREEFACTOR_CONTACT_TOUCH_H

#include "shapes.h"

/* Whether there is a kernel for a pair of kinds. */
int can_touch(int first, int second);

/* Write the points with gaps up to the margin; returns how many, at most MOST_POINTS. */
int touch(const ContactShape *a, const Pose *A, const ContactShape *b, const Pose *B, double margin,
          TouchPoint *points);

#endif
