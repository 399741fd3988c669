"""Run all benchmarks on this commit and publish their pages: `make dashboard`.

The pages load nothing from other hosts, and name no machine and no path.
"""

import json
import os
import platform
import socket
import subprocess
import sys
from pathlib import Path

import vendor

from treefactor import show_config

HERE = Path(__file__).parent
ASV = HERE / ".asv"
MACHINE = "benchmark-machine"


def main() -> None:
    """Measure, make the results anonymous, publish them, and check the pages."""
    ASV.mkdir(exist_ok=True)
    (ASV / ".asv-machine.json").write_text(json.dumps({"version": 1, MACHINE: facts()}))
    commit = subprocess.check_output(("git", "rev-parse", "HEAD"), cwd=HERE, text=True).strip()
    asv("run", "--python=same", "--set-commit-hash", commit, "--machine", MACHINE)
    for file in (ASV / "results" / MACHINE).glob("*-existing-*.json"):
        make_anonymous(file)
    asv("publish", "--no-pull")
    named = telling(ASV / "html")  # before public scripts are added, which may contain a short name of a host
    if named:
        sys.exit("the pages name this machine or its paths:\n" + "\n".join(named))
    vendor.make_local(ASV / "html", ASV / "npm")
    loaded = vendor.loads_from_outside(ASV / "html")
    if loaded:
        sys.exit("the pages load files from other hosts:\n" + "\n".join(loaded))
    print(f"published: python -m http.server --directory {ASV / 'html'}")


def facts() -> dict[str, str]:
    """Return the facts about the machine that the pages show."""
    config = show_config("dicts")
    named = {"machine": MACHINE, "os": platform.system(), "arch": config["machine"], "cpu": config["used"]}
    return {**named, "num_cpu": str(config["cores"]), "ram": ""}


def asv(*arguments: str) -> None:
    """Run asv with its settings beside the results, not in the home folder."""
    command = (sys.executable, "-m", "asv", *arguments)
    subprocess.run(command, cwd=HERE, env={**os.environ, "HOME": str(ASV)}, check=True)


def make_anonymous(file: Path) -> None:
    """Call the environment, which asv names by the path of the interpreter, by Python's version."""
    content = json.loads(file.read_text())
    content["env_name"] = f"py{platform.python_version()}"
    content["python"] = content["params"]["python"] = platform.python_version()
    file.unlink()
    file.with_name(f"{content['commit_hash'][:8]}-{content['env_name']}.json").write_text(json.dumps(content))


def telling(folder: Path) -> list[str]:
    """Return files that name a path or the host, each with what it names."""
    home, prefix = str(Path.home()), sys.prefix
    secrets = (home, prefix, prefix.replace(os.sep, "_"), str(HERE.parent.resolve()), socket.gethostname())
    texts = {file: file.name + file.read_bytes().decode(errors="replace") for file in files_of(folder)}
    return [f"{file}: {secret}" for file, text in texts.items() for secret in secrets if secret in text]


def files_of(folder: Path) -> list[Path]:
    """Return all files below a folder."""
    return [file for file in folder.rglob("*") if file.is_file()]


if __name__ == "__main__":
    main()
