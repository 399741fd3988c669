"""Engines in files of their own, for tests of the command and of the plugin: treefactor's, with defects."""

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 0.5"/><mass value="2"/>
      <inertia ixx="0.2" iyy="0.2" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="lower">
    <inertial><origin xyz="0 0.1 0.5"/><mass value="1"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="9" velocity="9"/>{damping}
  </joint>
  <joint name="elbow" type="continuous">
    <parent link="upper"/><child link="lower"/><origin xyz="0 0 1"/><axis xyz="1 0 0"/>
  </joint>
</robot>
"""
# a conftest.py: sessions of pytest that compare in their own process
IN_PROCESS = """
from functools import partial
from treefactor.check import matrix
from treefactor.check.project import selection

selection.Matrix = partial(matrix.Matrix, processes=False)
"""
PLAIN = ARM.format(damping="")
DAMPED = ARM.format(damping='<dynamics damping="0.5"/>')

GOOD = '''"""Engine that is right."""
from pathlib import Path
from treefactor.check import own
from treefactor.check.own import *
from treefactor.exceptions import AdapterError

NAME, READS, DTYPE, OPTIONS = "Stand-in", ("urdf",), "float64", {}
'''
DAMPS = (  # explained by <dynamics>: gravity; offers no momentum
    GOOD
    + """
def load(path, floating, gravity, options=frozenset()):
    body = own.load(path, floating, gravity)
    body.damped = "<dynamics" in Path(path).read_text()
    return body

def gravity_forces(body, q):
    return own.gravity_forces(body, q) + body.damped

del momentum
"""
)
WRONG = (  # disagrees in its centre of mass
    GOOD
    + """
def com(body, q):
    return own.com(body, q) + 0.1
"""
)
REFUSES = (
    GOOD
    + """
def load(path, floating, gravity, options=frozenset()):
    raise AdapterError("it has elbows")
"""
)
CRASHES = (
    GOOD
    + """
def load(path, floating, gravity, options=frozenset()):
    import os
    os.abort()
"""
)
MISSING = '"""Engine that is not installed."""\nimport no_such_engine\n'
ENGINES = {
    "good": GOOD,
    "damps": DAMPS,
    "wrong": WRONG,
    "refuses": REFUSES,
    "crashes": CRASHES,
    "missing": MISSING,
}


def write_project(folder, *engines, **files):
    """Write the files of some engines, arm.urdf and damped.urdf, and further files, into a folder."""
    for name in engines:
        (folder / f"{name}.py").write_text(ENGINES[name])
    (folder / "arm.urdf").write_text(PLAIN)
    (folder / "damped.urdf").write_text(DAMPED)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder
