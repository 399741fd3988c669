"""Fuzz JSON files of the command line: strict readers can read every report that is written."""

import json
import os
import tempfile
from pathlib import Path

import atheris
import harness

from treefactor.check import Row
from treefactor.report import write_json

FILE = Path(tempfile.mkdtemp(), "report.json")


def write(data: bytes) -> None:
    """Write results of `treefactor check` with any names and numbers, and read them strictly."""
    given = atheris.FuzzedDataProvider(data)
    row = Row(
        robot=given.ConsumeString(20),
        base=given.ConsumeUnicode(9),
        engine=os.fsdecode(given.ConsumeBytes(9)),
        n=given.ConsumeInt(8),
        condition=given.ConsumeFloat(),
        error_h=given.ConsumeFloat(),
        reason=given.ConsumeUnicode(30),
    )
    write_json(FILE, {"rows": [row.as_dict()], given.ConsumeUnicode(9): given.ConsumeFloatList(3)})
    text = FILE.read_bytes().decode("utf-8")
    json.loads(text, parse_constant=lambda word: 1 / 0)


if __name__ == "__main__":
    harness.run(write, [b"panda fixed pinocchio", bytes(range(256))])
