"""Where and when figures were measured."""

import subprocess
from importlib import import_module

import pytest

module = import_module("treefactor.report.circumstances")  # the package has the function of this name


def test_a_checkout_names_its_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CHECKOUT", tmp_path)
    assert "commit" not in module.circumstances()
    git = ("git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b")
    try:
        subprocess.run((*git, "init", "-q"), check=True)
    except OSError:
        pytest.skip("git is not installed")
    assert "commit" not in module.circumstances()
    subprocess.run((*git, "commit", "-q", "--allow-empty", "-m", "First"), check=True)
    head = subprocess.run((*git, "rev-parse", "HEAD"), capture_output=True, text=True, check=True).stdout
    assert head.startswith(module.circumstances()["commit"])
