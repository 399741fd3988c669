"""Settings of Sphinx: pages run their code when they are built, and load nothing from other sites."""

import logging
import os
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import treefactor

CODE = Path(__file__).parent / "code"
sys.path.insert(0, str(CODE))  # extensions
missing_packages = import_module("missing_packages")
KERNELS = (
    TemporaryDirectory()
)  # settings of the Jupyter kernels that run the pages, instead of the user's own
Path(KERNELS.name, "profile_default").mkdir()
Path(KERNELS.name, "profile_default", "ipython_kernel_config.py").write_text(
    "c = get_config()\nc.IPKernelApp.log_level = 'ERROR'\nc.HistoryManager.enabled = False\n"
)
os.environ["IPYTHONDIR"] = KERNELS.name
logging.getLogger("traitlets").setLevel(logging.WARNING)
os.environ["PYTHONPATH"] = str(CODE)  # pages import exhibits.py
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # treefactor

project, author = "treefactor", "the treefactor developers"
copyright = author
version = release = treefactor.__version__
extensions = ["myst_nb", "sphinx.ext.autosummary", "numpydoc", "sphinx_copybutton", "sphinx_design"]
extensions += ["docstrings", "conformance_pages", "missing_packages", "pages", "reference"]  # of code
templates_path = ["_templates"]
nitpicky = True
default_role = "py:obj"
nitpick_ignore_regex = [
    ("py:obj", r"(numpy|scipy|pinocchio|mujoco|pydrake|platformdirs)\..*"),
    ("py:obj", r"(treefactor|make) [a-z].*"),  # command lines
    *(("py:.*", rf"treefactor\.{name}\b.*") for name in missing_packages.left_out()),
]

nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_show_tb = True
nb_merge_streams = True
autodoc_mock_imports = missing_packages.MOCKED
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc has them
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_theme = "furo"
html_title = f"treefactor {version}"
html_static_path = ["_static", "../treefactor/report/templates/drawings.css"]
html_css_files = ["drawings.css", "site.css"]
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
