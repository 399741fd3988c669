/* Recursions over the bodies of a tree (Featherstone 2008, ch. 5 to 7) for one kind of number.
 * Define before including:
 *     REAL      the number type `real`: double, or a SIMD register of doubles
 *     LANES     configurations stored side by side in memory
 *     NAME(f)   function name f for this type and instruction set
 *
 * The recursions that compute forces, H and accelerations (turns.h, rnea.h, crba.h, aba.h), and first derivatives,
 * express the vectors of a body in its own axes and about its own origin. In all others every vector is expressed in the
 * axes of the root body of its tree, so they rotate no vectors between bodies, and the distance to the base does not
 * affect rounding.
 * Moments are taken about a local origin there, which a body shares with its parent unless the model assigns it its own
 * (treefactor/dynamics/bodies.py explains when); vectors are shifted only there, by the vector d between both origins.
 * A motion is (linear, angular) as in Pinocchio, a force is (force, moment). Where every freedom has its unit motion,
 * the freedoms of a joint are treated one after the other, as if massless bodies were between them.
 */
#include "own_axes.h"
#include "placements.h"
#include "forces.h"
#include "reactions.h"
#include "statics.h"
#include "velocities.h"
#include "energies.h"
#include "momenta.h"
#include "coriolis.h"
#include "kinematics.h"
#include "forget_types.h"
