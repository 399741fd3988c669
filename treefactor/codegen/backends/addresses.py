"""Look up the addresses of compiled functions by their names."""

from ..._util.validation import Sealed
from ..program.names import identifier


class MachineCode(Sealed):
    """Machine code of functions of a program, in their forms for one configuration and for eight."""

    def one(self, name: str) -> int:
        """Return the address of a function of (q, v, u, out) for one configuration."""
        return self._address(f"tf_{identifier(name)}")

    def lanes(self, name: str) -> int:
        """Return the address of its form for eight configurations: entry e of configuration l at 8 e + l."""
        return self._address(f"tf_{identifier(name)}_x8")

    def _address(self, symbol: str) -> int:
        """Return the address of a symbol; each compiler has its own way."""
        raise NotImplementedError
