"""Look up the addresses of compiled functions by their names."""

from ..._util.validation import Sealed
from ..program.names import identifier
from ..program.precision import Precision


class MachineCode(Sealed):
    """Machine code of functions of a program, in their forms for one configuration and for several.

    Attributes
    ----------
    precision : Precision
    """

    precision: Precision

    def one(self, name: str) -> int:
        """Return the address of a function of (q, v, u, out) for one configuration, 0 if there is none."""
        return 0 if self.precision.is_single else self._address(f"tf_{identifier(name)}")

    def lanes(self, name: str) -> int:
        """Return the address of its form for several: entry e of configuration l is at lanes e + l."""
        return self._address(f"tf_{identifier(name)}_x{self.precision.lanes}")

    def groups(self, name: str) -> tuple[int, int]:
        """Return the address of the form for several such groups, and its slots for values.

        Both are 0 if there is no such form.
        """
        return 0, 0

    def _address(self, symbol: str) -> int:
        """Return the address of a symbol; each compiler has its own way."""
        raise NotImplementedError
