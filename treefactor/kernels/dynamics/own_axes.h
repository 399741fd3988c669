/* The recursions in the bodies' own axes that compute forces, H and accelerations: see recursions.h. */
#include "workspace.h"
#include "inertias.h"
#include "turns.h"
#include "handovers.h"
#include "rnea.h"
#include "crba.h"
#include "aba.h"
