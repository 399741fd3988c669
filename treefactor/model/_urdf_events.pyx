"""Read joints and frames of a URDF from the events of its parser, without a tree of its elements.

The parser is Python's own, called by its C interface. A file with anything unusual, wrong or not, is left to
`_urdf_joints`, which reads the same numbers of a tree of elements and knows the words for what is wrong.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.pycapsule cimport PyCapsule_Import
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.math cimport INFINITY, cos, fabs, fmax, frexp, isfinite, ldexp, sin, sqrt
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcpy, memset, strchr, strcmp, strlen, strncmp, strstr

from .._util._small_products cimport apply, multiply
from ._building cimport frame_at, frame_of, inertia_of, joint_of

from ..exceptions import InvalidModelError
from .joints import AXES, Mimic

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *text, char **end, void *overflow) except? -1.0

cdef extern from *:
    """
    typedef struct {                     /* PyExpat_CAPI of pyexpat.h, which needs a header of expat */
        char *magic;
        int size, major, minor, micro;
        const char *(*error_string)(int);
        int (*error_code)(void *);
        unsigned long (*column)(void *);
        unsigned long (*line)(void *);
        int (*parse)(void *, const char *, int, int);
        void *(*create)(const char *, const void *, const char *);
        void (*release)(void *);
        void (*on_text)(void *, void *);
        void (*on_comment)(void *, void *);
        void (*on_rest)(void *, void *);
        void (*on_element)(void *, void *, void *);
        void (*on_namespace)(void *, void *, void *);
        void (*on_instruction)(void *, void *);
        void (*on_encoding)(void *, void *, void *);
        void (*keep)(void *, void *);
        void (*on_doctype)(void *, void *);
        int (*encode)(void *, const char *);
        int (*know_encoding)(void *, const char *, void *);
        int (*salt)(void *, unsigned long);
    } Expat;
    """
    ctypedef struct Expat:
        int size
        int (*parse)(void *parser, const char *text, int size, int is_last)
        void *(*create)(const char *encoding, const void *memory, const char *separator)
        void (*release)(void *parser)
        void (*on_element)(void *parser, void *start, void *end)
        void (*keep)(void *parser, void *data)
        int (*salt)(void *parser, unsigned long number)

cdef const Expat *expat = <const Expat *> PyCapsule_Import("pyexpat.expat_CAPI", 0)

cdef unsigned long SALT = hash("treefactor") & 0x7fffffff  # random in each process, as Python's own

cdef enum:
    OTHER, LINK, JOINT                  # parts of a robot
    MASS = 1, INERTIA = 2, PLACE = 4, INERTIAL = 8                  # elements of a link
    ORIGIN = 16, PARENT = 32, CHILD = 64, AXIS = 128, LIMIT = 256, MIMIC = 512  # elements of a joint

cdef struct Placement:
    double[9] R
    double[3] p

cdef struct Body:
    double mass
    double[3] com
    double[9] tensor

cdef struct Link:
    Body body
    Placement place                     # of the link in that which carries it
    Py_ssize_t carrier, joint           # the carrier's number, and its joint in the model
    bint is_child

cdef struct Hinge:
    Placement place
    double[3] axis
    double lower, upper, effort, velocity, ratio, offset
    bint limited
    Py_ssize_t parent, child

KINDS = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "spherical": "spherical",
    "planar": "planar",
    "floating": "freeflyer",
}  # of `Joint` by URDF joint type
BOUNDED = ("revolute", "prismatic")
cdef dict TYPES = {kind: kind for kind in (*KINDS, "fixed")}
DIRECTED = ("revolute", "continuous", "prismatic")   # URDF joint types of one freedom
cdef const char *KEYS = (  # attributes that hold numbers
    b"xyz\0rpy\0value\0ixx\0ixy\0ixz\0iyy\0iyz\0izz\0multiplier\0offset\0damping\0friction\0size\0radius\0"
    b"length\0scale\0"
)
cdef const char *LIMIT_KEYS = b"lower\0upper\0effort\0velocity\0"  # numbers that may be infinite
cdef const char *TENSOR_KEYS = b"ixx\0ixy\0ixz\0iyy\0iyz\0izz"
cdef int[9] ENTRY = [0, 1, 2, 1, 3, 4, 2, 4, 5]   # of these six in a tensor
cdef double[23] POWER                   # of ten: those that are exact
POWER[0] = 1.0
for _power in range(1, 23):
    POWER[_power] = 10.0 * POWER[_power - 1]


@cython.final
cdef class Events:
    """What the parser has seen of a robot."""

    cdef int depth, part, seen
    cdef bint odd                       # something that is left to `_urdf_joints`
    cdef bint inside                    # an <inertial>
    cdef bint generated                 # the file names xacro: elements may be for it
    cdef set prefixes                   # of such elements
    cdef Placement principal            # of the inertial
    cdef Link *link
    cdef Hinge *hinge
    cdef Py_ssize_t links, hinges, link_space, hinge_space
    cdef str name
    cdef dict number, named             # links by their names, and joints
    cdef list link_names, hinge_names, types, parents, children, leaders

    def __cinit__(self):
        self.number, self.named, self.name, self.prefixes = {}, {}, "", {"xacro"}
        self.link_names, self.hinge_names, self.types = [], [], []
        self.parents, self.children, self.leaders = [], [], []

    def __dealloc__(self):
        free(self.link)
        free(self.hinge)

    cdef int start(self, const char *tag, const char **attributes) except -1:
        """Take the beginning of an element."""
        cdef const char *text
        self.odd = self.generated and self.is_for_xacro(tag, attributes)
        if self.depth == 1:
            text = value(attributes, "name")
            self.name = "" if text == NULL else decoded(text)
            self.odd = self.odd or strcmp(tag, "robot")
        elif self.depth == 2:
            self.seen, self.part = 0, OTHER
            if not strcmp(tag, "link"):
                self.part = LINK
                self.start_link(attributes)
            elif not strcmp(tag, "joint"):
                self.part = JOINT
                self.start_joint(attributes)
        elif self.part == LINK:
            if self.depth == 3 and not strcmp(tag, "inertial"):
                self.inside = True
                self.odd = self.odd or not self.is_first(INERTIAL)
                unplaced(&self.principal)
            elif self.inside:
                self.take_of_inertial(tag, attributes)
        elif self.part == JOINT:
            if self.depth == 3:
                self.take_of_joint(tag, attributes)
            self.odd = self.odd or not are_usual(attributes)
        return 0

    cdef bint is_for_xacro(self, const char *tag, const char **attributes) except -1:
        """Return whether an element has xacro's prefix, or one that is bound to xacro's namespace."""
        while attributes[0] != NULL:
            if not strncmp(attributes[0], "xmlns:", 6) and strstr(attributes[1], "xacro") != NULL:
                self.prefixes.add(decoded(attributes[0] + 6))
            attributes += 2
        return strchr(tag, c":") != NULL and decoded(tag).rpartition(":")[0] in self.prefixes

    cdef int end(self) except -1:
        """Take the end of an element."""
        cdef int needed = MASS | INERTIA
        if self.depth == 3 and self.inside:
            self.inside = False
            if self.seen & needed != needed:
                self.odd = True
            else:
                self.place_tensor()
        elif self.depth == 2 and self.part == JOINT:
            needed = PARENT | CHILD
            self.odd = self.odd or self.seen & needed != needed
        return 0

    cdef bint is_first(self, int element) noexcept:
        """Note an element; return whether it is the first of its kind: others do not count."""
        cdef bint known = self.seen & element
        self.seen |= element
        return not known

    cdef str own_name(self, const char **attributes, dict others, Py_ssize_t number):
        """Return the name of a link or joint, which must differ from those of others."""
        cdef const char *text = value(attributes, "name")
        cdef str name = "" if text == NULL else decoded(text)
        self.odd = self.odd or not name or name in others
        others[name] = number
        return name

    cdef int start_link(self, const char **attributes) except -1:
        """Take the beginning of a link."""
        if self.links == self.link_space:
            self.link_space = 2 * self.link_space + 32
            self.link = <Link *> more(self.link, self.link_space * sizeof(Link))
        memset(self.link + self.links, 0, sizeof(Link))
        self.link_names.append(self.own_name(attributes, self.number, self.links))
        self.links += 1
        return 0

    cdef int start_joint(self, const char **attributes) except -1:
        """Take the beginning of a joint."""
        cdef const char *text = value(attributes, "type")
        cdef Hinge *hinge
        if self.hinges == self.hinge_space:
            self.hinge_space = 2 * self.hinge_space + 32
            self.hinge = <Hinge *> more(self.hinge, self.hinge_space * sizeof(Hinge))
        hinge = self.hinge + self.hinges
        memset(hinge, 0, sizeof(Hinge))
        unplaced(&hinge.place)
        hinge.axis[0], hinge.effort, hinge.velocity = 1.0, INFINITY, INFINITY
        kind = TYPES.get("" if text == NULL else decoded(text))
        self.odd = self.odd or kind is None
        self.types.append(kind)
        self.hinge_names.append(self.own_name(attributes, self.named, self.hinges))
        self.leaders.append(None)
        self.hinges += 1
        return 0

    cdef void take_of_inertial(self, const char *tag, const char **attributes) noexcept:
        """Take an element of the inertial of a link."""
        cdef Body *body = &self.link[self.links - 1].body
        cdef double[6] six
        cdef int k
        if self.depth > 4:
            self.odd = True
        elif not strcmp(tag, "origin") and self.is_first(PLACE):
            self.odd = self.odd or not place(attributes, &self.principal)
        elif not strcmp(tag, "mass") and self.is_first(MASS):
            self.odd = self.odd or not one_number(value(attributes, "value"), &body.mass) or body.mass < 0.0
        elif not strcmp(tag, "inertia") and self.is_first(INERTIA):
            for k in range(6):
                self.odd = self.odd or not one_number(value(attributes, TENSOR_KEYS + 4 * k), six + k)
            for k in range(9):
                body.tensor[k] = six[ENTRY[k]]
        else:
            self.odd = self.odd or not are_usual(attributes)

    cdef void place_tensor(self) noexcept:
        """Turn the tensor of the last link into its axes."""
        cdef Body *body = &self.link[self.links - 1].body
        memcpy(body.com, self.principal.p, sizeof(body.com))
        turn(self.principal.R, body.tensor)

    cdef int take_of_joint(self, const char *tag, const char **attributes) except -1:
        """Take an element of a joint."""
        cdef Hinge *hinge = self.hinge + self.hinges - 1
        cdef const char *text
        cdef str kind = self.types[self.hinges - 1]
        if not strcmp(tag, "origin"):
            if self.is_first(ORIGIN):
                self.odd = self.odd or not place(attributes, &hinge.place)
        elif not strcmp(tag, "parent") or not strcmp(tag, "child"):
            if not self.is_first(PARENT if tag[0] == c"p" else CHILD):
                return 0
            text = value(attributes, "link")
            self.odd = self.odd or text == NULL
            links = self.parents if tag[0] == c"p" else self.children
            links.append(None if text == NULL else decoded(text))
        elif not strcmp(tag, "axis"):
            if self.is_first(AXIS) and kind in DIRECTED:
                self.odd = self.odd or numbers(value(attributes, "xyz"), hinge.axis, 3) != 3
        elif not strcmp(tag, "limit"):
            if not self.is_first(LIMIT):
                return 0
            if kind in BOUNDED:
                hinge.limited = True
                self.take_number(attributes, "lower", &hinge.lower, True)
                self.take_number(attributes, "upper", &hinge.upper, True)
            if kind in DIRECTED:
                self.take_number(attributes, "effort", &hinge.effort, True)
                self.take_number(attributes, "velocity", &hinge.velocity, True)
        elif not strcmp(tag, "mimic") and self.is_first(MIMIC):
            hinge.ratio = 1.0
            self.take_number(attributes, "multiplier", &hinge.ratio)
            self.take_number(attributes, "offset", &hinge.offset)
            text = value(attributes, "joint")
            self.leaders[self.hinges - 1] = "" if text == NULL else decoded(text)
        return 0

    cdef void take_number(
        self, const char **attributes, const char *key, double *number, bint unlimited=False
    ) noexcept:
        """Take the number of an attribute that may be missing."""
        cdef const char *text = value(attributes, key)
        self.odd = self.odd or text != NULL and numbers(text, number, 1, unlimited) != 1

    cdef bint connect(self) except -1:
        """Find the links of all joints; return whether these may form a tree."""
        cdef Py_ssize_t h
        for h in range(self.hinges):
            parent, child = self.number.get(self.parents[h]), self.number.get(self.children[h])
            if parent is None or child is None:
                return False
            self.hinge[h].parent, self.hinge[h].child = parent, child
            if self.link[self.hinge[h].child].is_child:
                return False
            self.link[self.hinge[h].child].is_child = True
        return self.links == self.hinges + 1

    cdef tuple model_parts(self, bint floating, bint mimic):
        """Return joints, frames and name of the robot: see `_urdf_joints.read`; None if it is not a tree."""
        cdef Py_ssize_t root = 0, h, k, count = 0
        cdef list below = [None] * self.links, waiting, order = [], joints = []
        cdef dict moving = {}           # numbers of the joints that move, by their names
        cdef Hinge *hinge
        cdef Link *link
        cdef Link *carrier
        while self.link[root].is_child:
            root += 1
        for h in sorted(range(self.hinges), key=self.hinge_names.__getitem__, reverse=True):
            if below[self.hinge[h].parent] is None:
                below[self.hinge[h].parent] = []
            below[self.hinge[h].parent].append(h)
        if floating:
            count = 1
        self.link[root].joint, self.link[root].carrier = count - 1, root
        unplaced(&self.link[root].place)
        waiting = list(below[root] or ())
        while waiting:
            h = waiting.pop()
            order.append(h)
            hinge, link = self.hinge + h, self.link + self.hinge[h].child
            follow(&self.link[hinge.parent].place, &hinge.place)
            carrier = self.link + self.link[hinge.parent].carrier
            if self.types[h] == "fixed":
                link.place, link.carrier = hinge.place, self.link[hinge.parent].carrier
                merge(&carrier.body, &link.body, &hinge.place)
            else:
                unplaced(&link.place)
                link.carrier, link.joint = hinge.child, count
                moving[self.hinge_names[h]] = count
                count += 1
            waiting += below[hinge.child] or ()
        if len(order) < self.hinges:
            return None
        if floating:
            link = self.link + root
            joints.append(self.joint("root_joint", "freeflyer", -1, NULL, link, None, self.link_names[root]))
        for h in order:
            if self.types[h] == "fixed":
                continue
            hinge = self.hinge + h
            kind, follows = KINDS[self.types[h]], None
            if mimic and self.leaders[h] is not None:
                if self.leaders[h] not in moving:
                    return None
                follows = Mimic(moving[self.leaders[h]], hinge.ratio, hinge.offset)
                kind = "revolute" if kind == "continuous" else kind
            k = self.link[self.link[hinge.parent].carrier].joint
            link = self.link + hinge.child
            joints.append(self.joint(self.hinge_names[h], kind, k, hinge, link, follows, self.children[h]))
        return joints, self.frames(root, order, floating), self.name

    cdef object joint(self, name, kind, Py_ssize_t parent, Hinge *hinge, Link *link, mimic, body):
        """Return a joint of the model; without a hinge it stands on the base."""
        cdef Placement own
        cdef double[3] axis
        inertia = inertia_of(link.body.mass, link.body.com, link.body.tensor)
        if hinge == NULL:
            unplaced(&own)
            return joint_of(
                name, kind, parent, own.R, own.p, NULL, 0.0, inertia, NULL, NULL, NULL, mimic, body
            )
        scale(hinge.axis, axis)
        return joint_of(
            name, kind, parent, hinge.place.R, hinge.place.p, axis if kind in AXES else NULL, 0.0, inertia,
            NULL, &hinge.lower if hinge.limited else NULL, &hinge.upper if hinge.limited else NULL, mimic,
            body, &hinge.effort if kind in AXES else NULL, &hinge.velocity if kind in AXES else NULL,
        )

    cdef list frames(self, Py_ssize_t root, list order, bint floating):
        """Return a frame for the base and every joint and link, in Pinocchio's order."""
        cdef Py_ssize_t h, number = self.link[root].joint
        cdef Hinge *hinge
        cdef list frames
        h = self.named.get("universe", -1)
        base = "universe (base)" if h >= 0 and self.types[h] == "fixed" else "universe"
        frames = [frame_of(base, -1, NULL, NULL, "fixed_joint", "")]
        if floating:
            frames.append(frame_of("root_joint", number, NULL, NULL, "joint", base))
        frames.append(
            frame_of(self.link_names[root], number, NULL, NULL, "body", "root_joint" if floating else base)
        )
        for h in order:
            hinge = self.hinge + h
            name = self.hinge_names[h]
            if self.types[h] == "fixed":
                number = self.link[self.link[hinge.parent].carrier].joint
                own = frame_of(name, number, hinge.place.R, hinge.place.p, "fixed_joint", self.parents[h])
            else:
                own = frame_of(name, self.link[hinge.child].joint, NULL, NULL, "joint", self.parents[h])
            frames.append(own)
            frames.append(frame_at(self.children[h], own, "body", name))
        return frames


cdef void started(void *data, const char *tag, const char **attributes) noexcept:
    """Handle the beginning of an element."""
    cdef Events events = <Events> data
    events.depth += 1
    if not events.odd:
        try:
            events.start(tag, attributes)
        except (MemoryError, UnicodeDecodeError):
            events.odd = True


cdef void ended(void *data, const char *tag) noexcept:
    """Handle the end of an element."""
    cdef Events events = <Events> data
    if not events.odd:
        events.end()
    events.depth -= 1


def read(bytes content not None, bint is_text, bint floating, bint mimic):
    """Return the joints and frames of a URDF, and its name; None if `_urdf_joints` must read it.

    Parameters
    ----------
    content : bytes
    is_text : bool
        It is encoded in UTF-8, whatever it says.
    floating, mimic : bool
        See `Model.from_urdf`.
    """
    cdef const char *text = PyBytes_AS_STRING(content)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(content)
    cdef Events events = Events()
    cdef const char *encoding = NULL
    cdef void *parser
    cdef int is_sound
    if size > 2**30 or memchr(text, 0, size) != NULL or strstr(text, "<!DOCTYPE") != NULL:
        return None
    if has_breaks(content):
        return None
    while text[0] == c" " or text[0] == c"\n" or text[0] == c"\t" or text[0] == c"\r":
        text, size = text + 1, size - 1
    if text[0] != c"<":
        return None
    events.generated = strstr(text, "xacro") != NULL
    if is_text:
        encoding = b"utf-8"
    parser = expat.create(encoding, NULL, NULL)
    if parser == NULL:
        raise MemoryError
    if expat.salt != NULL:
        expat.salt(parser, SALT)          # else it asks the system for one, which takes as long as a joint
    expat.on_element(parser, <void *> &started, <void *> &ended)
    expat.keep(parser, <void *> events)
    is_sound = expat.parse(parser, text, <int> size, True)
    expat.release(parser)
    if is_sound != 1 or events.odd or not events.links or not events.connect():
        return None
    try:
        return events.model_parts(floating, mimic)
    except InvalidModelError:
        return None


cdef bint has_breaks(bytes content) except -1:
    """Return whether an attribute may have a line break or tab, which the parser would replace by blanks."""
    cdef const char *text = PyBytes_AS_STRING(content)
    cdef const char *begin = text
    cdef const char *end = text + PyBytes_GET_SIZE(content)
    cdef char quote
    cdef Py_ssize_t k
    while True:
        text = <const char *> memchr(text, c"=", end - text)
        if text == NULL:
            return False
        text += 1
        while text < end and (text[0] == c" " or text[0] == c"\n" or text[0] == c"\t" or text[0] == c"\r"):
            text += 1
        if text == end or text[0] != c"\"" and text[0] != c"'":
            continue
        quote = text[0]
        text += 1
        while text < end and text[0] != quote and text[0] != c"<":
            if text[0] == c"\n" or text[0] == c"\t" or text[0] == c"\r":
                k = text - begin
                if content.rfind(b"<!--", 0, k) <= content.rfind(b"-->", 0, k):   # not in a comment
                    return True
                break
            text += 1


cdef void *more(void *memory, size_t size) except NULL:
    """Return the same memory with more space."""
    memory = realloc(memory, size)
    if memory == NULL:
        raise MemoryError
    return memory


cdef str decoded(const char *text):
    """Return a text of the parser."""
    return PyUnicode_DecodeUTF8(text, strlen(text), NULL)


cdef const char *value(const char **attributes, const char *key) noexcept:
    """Return the text of an attribute, NULL if it is missing."""
    while attributes[0] != NULL:
        if not strcmp(attributes[0], key):
            return attributes[1]
        attributes += 2
    return NULL


cdef bint are_usual(const char **attributes) noexcept:
    """Return whether all attributes that are numbers are decimal ones, finite but for limits."""
    cdef double[16] values
    while attributes[0] != NULL:
        if is_among(KEYS, attributes[0]) and numbers(attributes[1], values, 16) < 0:
            return False
        if is_among(LIMIT_KEYS, attributes[0]) and numbers(attributes[1], values, 16, True) < 0:
            return False
        attributes += 2
    return True


cdef bint is_among(const char *keys, const char *key) noexcept:
    """Return whether a word is one of several, behind whose last one an empty one stands."""
    while keys[0]:
        if not strcmp(keys, key):
            return True
        keys += strlen(keys) + 1
    return False


cdef bint one_number(const char *text, double *number) noexcept:
    """Read a number with no blanks behind it; return whether it is one."""
    return text != NULL and numbers(text, number, 1) == 1 and text[strlen(text) - 1] != c" "


cdef int numbers(const char *text, double *values, int most, bint unlimited=False) noexcept:
    """Read numbers with blanks between them; return their count, -1 if there is anything else.

    Infinite ones count only if `unlimited`.
    """
    cdef int count = 0, digits, power, written, is_negative, is_small
    cdef unsigned long long mantissa
    cdef double number
    cdef const char *first
    cdef char *end
    if text == NULL:
        return -1
    while True:
        while text[0] == c" ":
            text += 1
        if not text[0]:
            return count
        if count == most:
            return -1
        first, mantissa, digits, power = text, 0, 0, 0
        is_negative = text[0] == c"-"
        if text[0] == c"-" or text[0] == c"+":
            text += 1
        if unlimited and (text[0] | 0x20) == c"i":
            text = behind_infinity(text)
            if text == NULL or text[0] and text[0] != c" ":
                return -1
            values[count] = -INFINITY if is_negative else INFINITY
            count += 1
            continue
        while c"0" <= text[0] <= c"9":
            mantissa, digits, text = 10 * mantissa + (text[0] - c"0"), digits + (mantissa > 0), text + 1
        written = text - first - (first[0] == c"-" or first[0] == c"+")
        if text[0] == c".":
            text += 1
            while c"0" <= text[0] <= c"9":
                mantissa, digits, text = 10 * mantissa + (text[0] - c"0"), digits + (mantissa > 0), text + 1
                power, written = power - 1, written + 1
        if not written:
            return -1
        if text[0] == c"e" or text[0] == c"E":
            text += 1
            is_small = text[0] == c"-"
            if text[0] == c"-" or text[0] == c"+":
                text += 1
            if not c"0" <= text[0] <= c"9":
                return -1
            written = 0
            while c"0" <= text[0] <= c"9":
                written, text = min(10 * written + (text[0] - c"0"), 100000), text + 1
            power = power - written if is_small else power + written
        if text[0] and text[0] != c" ":
            return -1
        if digits < 18 and mantissa < 1 << 53 and -22 <= power <= 22:   # both are exact: one rounding
            number = <double> mantissa
            number = number / POWER[-power] if power < 0 else number * POWER[power]
            values[count] = -number if is_negative else number
        else:
            values[count] = PyOS_string_to_double(first, &end, NULL)
        if not unlimited and not isfinite(values[count]):
            return -1
        count += 1


cdef const char *behind_infinity(const char *text) noexcept:
    """Return the text behind "inf" or "infinity", in any case; NULL if it begins with neither."""
    cdef const char *word = b"infinity"
    cdef int k = 0
    while word[k] and (text[k] | 0x20) == word[k]:
        k += 1
    return text + k if k == 3 or k == 8 else NULL


cdef void unplaced(Placement *place) noexcept:
    """place <- the identity."""
    memset(place, 0, sizeof(Placement))
    place.R[0] = place.R[4] = place.R[8] = 1.0


cdef bint place(const char **attributes, Placement *placed) noexcept:
    """Read the attributes of an origin; return whether they are three numbers each."""
    cdef const char *xyz = value(attributes, "xyz")
    cdef const char *rpy = value(attributes, "rpy")
    cdef double[3] angles
    if xyz != NULL and numbers(xyz, placed.p, 3) != 3:
        return False
    if rpy != NULL:
        if numbers(rpy, angles, 3) != 3:
            return False
        rotation(angles, placed.R)
    return True


cdef void rotation(const double *angles, double *R) noexcept:
    """R <- Rz Ry Rx, by the quaternion."""
    cdef double[4] q, other
    cdef double x, y, z, w
    cdef int k
    turning(0, angles[0], q)
    for k in range(1, 3):
        turning(k, angles[k], other)
        compose(other, q)
    x, y, z, w = q[0], q[1], q[2], q[3]
    R[0], R[4] = x * x - y * y - z * z + w * w, -(x * x) + y * y - z * z + w * w
    R[8] = -(x * x) - y * y + z * z + w * w
    R[1], R[3] = 2 * (x * y - z * w), 2 * (x * y + z * w)
    R[2], R[6] = 2 * (x * z + y * w), 2 * (x * z - y * w)
    R[5], R[7] = 2 * (y * z - x * w), 2 * (y * z + x * w)


cdef void turning(int axis, double angle, double *q) noexcept:
    """q <- the quaternion of a rotation about a coordinate axis."""
    memset(q, 0, 4 * sizeof(double))
    q[axis], q[3] = sin(angle / 2), cos(angle / 2)


cdef void compose(const double *p, double *q) noexcept:
    """q <- the product of two quaternions."""
    cdef double[4] r
    r[0] = p[3] * q[0] + q[3] * p[0] + (p[1] * q[2] - p[2] * q[1])
    r[1] = p[3] * q[1] + q[3] * p[1] + (p[2] * q[0] - p[0] * q[2])
    r[2] = p[3] * q[2] + q[3] * p[2] + (p[0] * q[1] - p[1] * q[0])
    r[3] = p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2]
    memcpy(q, r, sizeof(r))


cdef void scale(const double *x, double *unit) noexcept:
    """unit <- x, of any length but zero, scaled to unit length."""
    cdef int exponent, k
    cdef double length
    frexp(fmax(fmax(fabs(x[0]), fabs(x[1])), fabs(x[2])), &exponent)
    for k in range(3):
        unit[k] = ldexp(x[k], -exponent)          # exact, and no square overflows or vanishes
    length = sqrt(unit[0] * unit[0] + unit[1] * unit[1] + unit[2] * unit[2])
    for k in range(3):
        unit[k] /= length


cdef void follow(const Placement *above, Placement *place) noexcept:
    """place <- a placement in a frame that is itself placed."""
    cdef double[9] R
    cdef double[3] p
    cdef int k
    multiply(above.R, place.R, R)
    apply(above.R, place.p, p)
    memcpy(place.R, R, sizeof(R))
    for k in range(3):
        place.p[k] = above.p[k] + p[k]


cdef void turn(const double *R, double *tensor) noexcept:
    """tensor <- R tensor R^T, symmetric."""
    cdef double[9] half, transposed, turned
    cdef int r, c
    for r in range(3):
        for c in range(3):
            transposed[3 * r + c] = R[3 * c + r]
    multiply(R, tensor, half)
    multiply(half, transposed, turned)
    symmetrize(turned, tensor)


cdef void symmetrize(const double *A, double *S) noexcept:
    """S <- (A + A^T) / 2."""
    cdef int r, c
    for r in range(3):
        for c in range(3):
            S[3 * r + c] = (A[3 * r + c] + A[3 * c + r]) / 2


cdef void merge(Body *carrier, Body *body, const Placement *place) noexcept:
    """carrier <- both bodies together; body is placed in its frame, and moved to it."""
    cdef Body whole
    cdef double[9] sum
    cdef double[3] d, p
    cdef double square
    cdef const Body *part
    cdef int k, r, c, number
    apply(place.R, body.com, p)
    for k in range(3):
        body.com[k] = place.p[k] + p[k]
    turn(place.R, body.tensor)
    memset(&whole, 0, sizeof(Body))
    memset(sum, 0, sizeof(sum))
    whole.mass = carrier.mass + body.mass
    for k in range(3 if whole.mass else 0):
        whole.com[k] = (carrier.mass * carrier.com[k] + body.mass * body.com[k]) / whole.mass
    for number in range(2):                       # parallel axes: I + m (d'd 1 - d d')
        part = body if number else carrier
        for k in range(3):
            d[k] = part.com[k] - whole.com[k]
        square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
        for r in range(3):
            for c in range(3):
                sum[3 * r + c] += part.tensor[3 * r + c] + part.mass * (square * (r == c) - d[r] * d[c])
    symmetrize(sum, whole.tensor)
    memcpy(carrier, &whole, sizeof(Body))
