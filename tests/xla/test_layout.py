"""Our declarations of XLA's structs have the layout of the header that the installed jaxlib carries."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OURS = ROOT / "treefactor" / "kernels" / "xla" / "interface.h"
STRUCTS = {  # our name: XLA's name, and the fields whose names differ
    "XlaExtension": ("XLA_FFI_InternalExtension", {"kind": "type"}),
    "XlaVersion": ("XLA_FFI_Api_Version", {"extensions": "extension_start"}),
    "XlaMetadata": ("XLA_FFI_Metadata", {"version": "api_version"}),
    "XlaMetadataExtension": ("XLA_FFI_Metadata_Extension", {"base": "extension_base"}),
    "XlaErrorRequest": ("XLA_FFI_Error_Create_Args", {"extensions": "extension_start", "code": "errc"}),
    "XlaApi": (
        "XLA_FFI_Api",
        {
            "extensions": "extension_start",
            "version": "api_version",
            "internal": "internal_api",
            "create_error": "XLA_FFI_Error_Create",
        },
    ),
    "XlaBuffer": ("XLA_FFI_Buffer", {"extensions": "extension_start"}),
    "XlaBuffers": (
        "XLA_FFI_Args",
        {"extensions": "extension_start", "count": "size", "kinds": "types", "buffers": "args"},
    ),
    "XlaName": ("XLA_FFI_ByteSpan", {"text": "ptr", "length": "len"}),
    "XlaScalar": ("XLA_FFI_Scalar", {}),
    "XlaAttributes": (
        "XLA_FFI_Attrs",
        {"extensions": "extension_start", "count": "size", "kinds": "types", "values": "attrs"},
    ),
    "XlaCall": (
        "XLA_FFI_CallFrame",
        {
            "extensions": "extension_start",
            "context": "ctx",
            "operands": "args",
            "results": "rets",
            "attributes": "attrs",
        },
    ),
}
CONSTANTS = {
    "XLA_METADATA": "XLA_FFI_Extension_Metadata",
    "XLA_EXECUTE": "XLA_FFI_ExecutionStage_EXECUTE",
    "XLA_BUFFER": "XLA_FFI_ArgType_BUFFER",
    "XLA_SCALAR": "XLA_FFI_AttrType_SCALAR",
    "XLA_S64": "XLA_FFI_DataType_S64",
    "XLA_F32": "XLA_FFI_DataType_F32",
    "XLA_F64": "XLA_FFI_DataType_F64",
    "XLA_INVALID_ARGUMENT": "XLA_FFI_Error_Code_INVALID_ARGUMENT",
    "XLA_RESOURCE_EXHAUSTED": "XLA_FFI_Error_Code_RESOURCE_EXHAUSTED",
    "XLA_FAILED_PRECONDITION": "XLA_FFI_Error_Code_FAILED_PRECONDITION",
    "XLA_INTERNAL": "XLA_FFI_Error_Code_INTERNAL",
    "XLA_MAJOR": "XLA_FFI_API_MAJOR",
}
GROWING = {"XlaApi", "XlaMetadata"}  # later versions add fields at their ends
FORMER = {"XLA_FFI_InternalExtension": "XLA_FFI_Extension_Base"}  # names in headers before jaxlib 0.12


def fields():
    """Yield our structs with the names of their fields, from the header."""
    text = re.sub(r"/\*.*?\*/", "", OURS.read_text(encoding="utf-8"), flags=re.DOTALL)
    for body, name in re.findall(r"typedef struct(?: \w+)? \{(.*?)\} (\w+);", text, re.DOTALL):
        names_of_fields = []
        for declaration in filter(str.strip, body.split(";")):
            function = re.search(r"\(\*(\w+)\)", declaration)
            names = [function[1]] if function else re.findall(r"(\w+)(?=\s*(?:,|$))", declaration.strip())
            names_of_fields += names
        yield name, names_of_fields


def assertions():
    """Yield what must hold of the declarations, as C."""
    for name, ours in fields():
        theirs, renamed = STRUCTS[name]
        for field in ours:
            other = renamed.get(field, field)
            yield f"offsetof({name}, {field}) == offsetof({theirs}, {other})"
            yield f"sizeof((({name} *)0)->{field}) == sizeof((({theirs} *)0)->{other})"
        if name not in GROWING and name != "XlaCall":  # of which the last field, a result, is not declared
            yield f"sizeof({name}) == sizeof({theirs})"
    yield from (f"{ours} == (int){theirs}" for ours, theirs in CONSTANTS.items())
    yield "sizeof(XLA_FFI_Args) == sizeof(XLA_FFI_Rets)"
    yield "offsetof(XLA_FFI_Args, args) == offsetof(XLA_FFI_Rets, rets)"
    yield "XLA_MINOR <= XLA_FFI_API_MINOR"


def test_every_struct_and_field_is_compared():
    own = dict(fields())
    assert set(own) == set(STRUCTS)
    assert own["XlaApi"] == ["struct_size", "extensions", "version", "internal", "create_error"]
    assert own["XlaVersion"] == ["struct_size", "extensions", "major_version", "minor_version"]
    for name, (_, renamed) in STRUCTS.items():
        assert set(renamed) <= set(own[name])


def compile_with(folder, tmp_path, lines):
    """Return the messages of a compiler for both headers and some assertions; empty if all hold."""
    compiler = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler is installed")
    source = tmp_path / "layout.c"
    header = Path(folder, "xla", "ffi", "api", "c_api.h").read_text(encoding="utf-8")
    former = "".join(
        f"#define {name} {old}\n" for name, old in FORMER.items() if not re.search(rf"\b{name}\b", header)
    )
    checks = "".join(f'_Static_assert({line}, "{line}");\n' for line in lines)
    source.write_text(
        f'#include "xla/ffi/api/c_api.h"\n{former}#include "{OURS}"\n{checks}', encoding="utf-8"
    )
    command = [compiler, "-std=c11", "-Wall", "-fsyntax-only", f"-I{folder}", str(source)]
    return subprocess.run(command, capture_output=True, check=False, text=True).stderr


def test_the_layout_is_that_of_the_installed_jaxlib(tmp_path):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    folder = jax.ffi.include_dir()
    if not Path(folder, "xla", "ffi", "api", "c_api.h").exists():
        pytest.skip("the installed jaxlib carries no headers")
    assert compile_with(folder, tmp_path, assertions()) == ""
    wrong = "offsetof(XlaBuffer, rank) == offsetof(XLA_FFI_Buffer, dims)"
    assert wrong in compile_with(folder, tmp_path, [wrong])
