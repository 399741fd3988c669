"""Offer treefactor's dynamics as an engine with defects, to test explanations without any other engine.

Mirror: imports what the comparison computes with.
"""

import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace

from treefactor.check import own
from treefactor.exceptions import AdapterError


def invented_mass(top):
    """Give links without <inertial> one kilogram."""
    for link in top.iterfind("link"):
        if link.find("inertial") is None:
            own_inertia = ET.SubElement(link, "inertial")
            ET.SubElement(own_inertia, "mass", value="1")
            ET.SubElement(own_inertia, "inertia", ixx="1", iyy="1", izz="1")


def mirrored_axes(top):
    """Turn negative axes around."""
    for axis in top.iterfind("joint/axis"):
        axis.set("xyz", " ".join(str(abs(float(word))) for word in axis.get("xyz").split()))


def dropped_numbers(top):
    """Remove an <inertial> with a blank behind a number, as Pinocchio does."""
    for link in top.iterfind("link[inertial]"):
        inertial = link.find("inertial")
        if any(value.endswith(" ") for part in inertial for value in part.attrib.values()):
            link.remove(inertial)


def lost_links(top):
    """Remove the inertias of links on fixed joints."""
    for name in [child.get("link") for child in top.iterfind("joint[@type='fixed']/child")]:
        for inertial in top.findall(f"link[@name='{name}']/inertial"):
            top.find(f"link[@name='{name}']").remove(inertial)


def heavy_shapes(top):
    """Add mass to links with collision shapes."""
    for link in top.iterfind("link[collision]"):
        mass = link.find("inertial/mass")
        if mass is not None:
            mass.set("value", str(1.0 + float(mass.get("value"))))


def refused_materials(top):
    """Refuse files with materials."""
    if top.find(".//material") is not None:
        raise AdapterError("materials are refused")


def thin_bodies(top):
    """Halve the moments of the link called lower."""
    tensor = top.find("link[@name='lower']/inertial/inertia")
    for key in ("ixx", "iyy", "izz"):
        tensor.set(key, str(0.5 * float(tensor.get(key))))


def engine(*defects, options=None, **functions):
    """Return an engine with these defects; ``options`` switches some of them off, by name."""
    options = options or {}

    def load(path, floating, gravity, chosen=frozenset()):
        top = ET.fromstring(Path(path).read_text())
        for defect in defects:
            if options.get(defect) not in chosen:
                defect(top)
        other = Path(path).with_name(f"defective_{Path(path).name}")
        other.write_text(ET.tostring(top, encoding="unicode"))
        return own.load(other, floating, gravity, frozenset())

    names = ("joints", "base", "mass_matrix", "bias", "gravity_forces", "acceleration", "frames", "placement")
    own_functions = {name: getattr(own, name) for name in (*names, "jacobian", "inverse_dynamics")}
    texts = {name: f"does {defect.__name__}" for defect, name in options.items()}
    constants = {"NAME": "defective", "READS": ("urdf",), "DTYPE": "float64", "OPTIONS": texts}
    return SimpleNamespace(**{**own_functions, **constants, "load": load, **functions})
