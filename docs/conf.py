"""The documentation as a site: `make docs` writes it to build/docs.

The pages are the Markdown files of this folder, which are also read where they lie. Two parts are written at build
time and kept out of the repository: `gallery/`, from the numbered scripts in examples/, each of which runs; and `api/`,
one page for each public package, with every name that it exports.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import io
import os
import pkgutil
from pathlib import Path
from types import ModuleType

from sphinx.pycode import ModuleAnalyzer
from sphinx.util import inspect as sphinx_inspect

import iparam
from iparam.cli.command_table import COMMANDS
from iparam.cli.main import main

HERE = Path(__file__).parent

project = "iparam"
author = "The iparam maintainers"
copyright = "The iparam maintainers; Apache-2.0"
version = release = iparam.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery/*.ipynb", "gallery/*.py", "gallery/*.md5", "**/sg_execution_times.rst"]
default_role = "code"
suppress_warnings = ["config.cache"]  # the order of the gallery is a class

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "dollarmath"]

html_theme = "pydata_sphinx_theme"
html_title = f"iparam {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "iparam"},
    "show_prev_next": True,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
}
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

autodoc_type_aliases = {name: name for name in ("ArrayLike", "FloatArray", "IntArray", "BoolArray")}
sphinx_inspect.TypeAliasForwardRef.__repr__ = lambda self: self.name  # "ArrayLike | None", not what wraps it
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_class_signature = "mixed"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/\d\d_",
    "ignore_pattern": r"/isaac_",  # runs in Isaac Lab's own environment, see docs/platforms/isaac.md
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "matplotlib_animations": False,
    "default_thumb_file": None,
    "write_computation_times": False,
}


# ------------------------------------------------------------------------------------------------- the public names
def public_packages() -> dict[str, list[str]]:
    """Every package that states what it exports, with those names; `iparam` first."""
    found = ["iparam"] + [each.name for each in pkgutil.walk_packages(iparam.__path__, "iparam.") if each.ispkg]
    exported = {name: list(getattr(importlib.import_module(name), "__all__", [])) for name in found}
    return {name: names for name, names in exported.items() if names}


def data_docstring(package: str, name: str) -> list[str]:
    """The lines under the assignment of a constant, in the package or in the module that it takes it from."""
    file = Path(str(importlib.import_module(package).__file__))
    stub = file.with_suffix(".pyi")
    modules = [package]
    for node in ast.parse((stub if stub.exists() else file).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and any(name in (alias.asname, alias.name) for alias in node.names):
            modules.append(f"{package}.{node.module}" if node.level else str(node.module))
    for module in modules:
        if found := ModuleAnalyzer.for_module(module).find_attr_docs().get(("", name)):
            return found
    raise LookupError(f"{package}.{name} has no docstring: write one under its assignment")


def entry(package: str, name: str, value: object, seen: dict[int, str]) -> list[str]:
    """The lines of one name: in full where it comes first, a reference from there on."""
    path = f"{package}.{name}"
    if isinstance(value, ModuleType):
        return []
    if not callable(value):
        return [f".. py:data:: {path}", "", *(f"   {line}" for line in data_docstring(package, name)), ""]
    if id(value) in seen:
        return [f"``{name}``: see :py:obj:`{seen[id(value)]}`.", ""]
    seen[id(value)] = path
    if inspect.isclass(value):
        return [f".. autoclass:: {path}", "   :members:", "   :undoc-members:", ""]
    return [f".. autofunction:: {path}", ""]


def command_help(name: str) -> list[str]:
    """What `iparam NAME --help` prints, as a literal block."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        main([*name.split(), "--help"])
    return ["", "::", "", *(f"   {line}".rstrip() for line in printed.getvalue().splitlines()), ""]


def commands_page() -> str:
    """The options of every command."""
    os.environ.update(COLUMNS="100", NO_COLOR="1")
    lines = ["Options of every command", "========================", ""]
    for command in COMMANDS:
        lines += [f"iparam {command.name}", "-" * (len(command.name) + 7), *command_help(command.name)]
    return "\n".join(lines)


def write_api() -> None:
    """One page for each public package under `api/`, one for all commands, and the list of them."""
    folder = HERE / "api"
    folder.mkdir(exist_ok=True)
    seen: dict[int, str] = {}
    pages = {}
    for package, names in public_packages().items():
        module = importlib.import_module(package)
        lines = [package, "=" * len(package), "", f".. automodule:: {package}", ""]
        for name in sorted((name for name in names if not name.startswith("_")), key=str.lower):
            lines += entry(package, name, getattr(module, name), seen)
        pages[package] = "\n".join(lines)
    pages["commands"] = commands_page()
    listed = "\n".join(f"   {package}" for package in pages if package != "commands")
    pages["index"] = (
        "API reference\n=============\n\n"
        "Every public name. ``iparam`` itself has what most scripts need; the packages below it hold the rest.\n"
        f"\n.. toctree::\n   :maxdepth: 1\n\n{listed}\n"
    )
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


write_api()
