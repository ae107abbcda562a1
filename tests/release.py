"""A release: wheel and sdist, built, installed into an environment of its own, and tried there.

`make release` and `tests/test_release.py` do the same; nothing is uploaded. Only the standard library is needed.

What a release states of itself has one place each: the version `src/iparam/__init__.py`, its date the heading of
`CHANGELOG.md`. `python tests/release.py --cite` writes both into `CITATION.cff`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = "mujoco,plot"
"""What the demo needs."""


class ReleaseError(Exception):
    """Why there is no release, and what to do."""


class NoIndexError(ReleaseError):
    """The package index does not answer."""


class Built(NamedTuple):
    """The files of a release."""

    sdist: Path
    wheel: Path

    @property
    def packed(self) -> set[str]:
        """Paths in the wheel, from the folder that it is installed into."""
        with zipfile.ZipFile(self.wheel) as archive:
            return set(archive.namelist())

    @property
    def sources(self) -> set[str]:
        """Paths of the files in the sdist, from its folder."""
        with tarfile.open(self.sdist) as archive:
            return {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}


def version(root: Path = ROOT) -> str:
    """The version of the package."""
    found = re.search(r'^__version__ = "(.+)"$', (root / "src/iparam/__init__.py").read_text("utf-8"), re.MULTILINE)
    if found is None:
        raise ReleaseError("src/iparam/__init__.py states no __version__")
    return found[1]


def release_date(root: Path = ROOT) -> str | None:
    """The date [YYYY-MM-DD] that the first heading of the changelog gives this version; None before its release."""
    heading = _heading(root)
    found = re.fullmatch(rf"\[{re.escape(version(root))}\] - (\d{{4}}-\d{{2}}-\d{{2}})", heading)
    return found and found[1]


def citation(root: Path = ROOT) -> str:
    """The text of `CITATION.cff` as it has to be: with the version, and with its date once it has one."""
    lines = (root / "CITATION.cff").read_text("utf-8").splitlines()
    kept = [line for line in lines if not line.startswith(("version:", "date-released:"))]
    date = release_date(root)
    stated = [f"version: {version(root)}", *([f"date-released: {date}"] if date else [])]
    place = next(index for index, line in enumerate(kept) if line.startswith("license:"))
    return "\n".join([*kept[:place], *stated, *kept[place:], ""])


def check_ready(root: Path = ROOT) -> None:
    """Refuse what would not be the release that it says: changes that nobody committed, a changelog without it.

    Raises:
        ReleaseError: with what to do.
    """
    changed = _run(["git", "status", "--porcelain"], cwd=root).splitlines()
    if changed:
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        raise ReleaseError(f"the working tree has changes ({', '.join(changed[:3])}{more}): commit or stash them")
    if release_date(root) is None:
        raise ReleaseError(
            f"the version is {version(root)} and the first heading of CHANGELOG.md {_heading(root)!r}: it has to be "
            f"'[{version(root)}] - YYYY-MM-DD'; or change the version in src/iparam/__init__.py"
        )
    if (root / "CITATION.cff").read_text("utf-8") != citation(root):
        raise ReleaseError("CITATION.cff states another version or date: python tests/release.py --cite writes it")


def build(folder: Path, root: Path = ROOT) -> Built:
    """Wheel and sdist in a folder. The wheel is built from the sdist, so that this holds all that it takes.

    Raises:
        NoIndexError: the build backend cannot be had.
        ReleaseError: it fails.
    """
    with tempfile.TemporaryDirectory() as temporary:
        tools, unpacked = Path(temporary, "tools"), Path(temporary, "unpacked")
        requirement = re.search(r'^requires = \["(.+)"\]$', (root / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
        assert requirement is not None
        try:
            _pip("install", "--target", str(tools), requirement[1])
        except ReleaseError as error:
            raise NoIndexError(f"needs a package index, for {requirement[1]}: {error}") from None
        backend = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
        environment = {**os.environ, "PYTHONPATH": str(tools)}
        _run([*backend, "--target", "sdist"], cwd=root, env=environment)
        (sdist,) = folder.glob("*.tar.gz")
        with tarfile.open(sdist) as archive:
            archive.extractall(unpacked, filter="data")
        (source,) = unpacked.iterdir()
        _run([*backend, "--target", "wheel"], cwd=source, env=environment)
        (wheel,) = folder.glob("*.whl")
    return Built(sdist, wheel)


def install(wheel: Path, environment: Path, extras: str = EXTRAS, beneath: Path | None = None) -> None:
    """Make an environment and install a wheel into it, with what it asks for in the versions of the lock.

    Args:
        wheel: of this project.
        environment: its folder.
        extras: those of the project, with commas between them.
        beneath: another environment, whose packages count as installed; None for none.
    """
    venv.create(environment, with_pip=False, symlinks=True, clear=True)
    if beneath is not None:
        (place,) = environment.glob("lib/python*/site-packages")
        (packages,) = beneath.glob("lib/python*/site-packages")
        (place / "beneath.pth").write_text(f"{packages}\n", encoding="utf-8")
    into = ("--python", str(environment / "bin" / "python"))
    _pip(
        *into,
        "install",
        "--no-compile",
        "--constraint",
        str(ROOT / "requirements.lock"),
        f"{wheel}[{extras}]" if extras else str(wheel),
    )
    _pip(*into, "check")


def try_out(environment: Path, folder: Path, *arguments: str) -> str:
    """What the installed command prints, run in a folder outside the checkout, with a home that cannot be written."""
    home = folder / "home"
    home.touch()  # a file: even root makes no folder below it
    variables = {"PATH": os.defpath, "HOME": str(home / "user"), "LANG": "C.UTF-8", "TMPDIR": tempfile.gettempdir()}
    return _run([str(environment / "bin" / "iparam"), *arguments], cwd=folder, env=variables)


def main(arguments: list[str]) -> None:
    """Write the citation, or make and try a release in dist/."""
    if arguments == ["--cite"]:
        (ROOT / "CITATION.cff").write_text(citation(), encoding="utf-8")
        return
    check_ready()
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    built = build(ROOT / "dist")
    with tempfile.TemporaryDirectory() as temporary:
        environment, folder = Path(temporary, "environment"), Path(temporary, "elsewhere")
        folder.mkdir()
        install(built.wheel, environment)
        print(try_out(environment, folder, "--version"), try_out(environment, folder, "demo", "--time-budget", "3"))
    print(f"{built.sdist.name} and {built.wheel.name} are in dist/, tried and not uploaded. Next: git tag v{version()}")


def _heading(root: Path) -> str:
    """The first heading of a version in the changelog."""
    found = re.search(r"^## (.+)$", (root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    return "" if found is None else found[1].strip()


def _pip(*arguments: str) -> None:
    _run([sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments])


def _run(command: list[str], cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-12:])
        raise ReleaseError(f"{' '.join(command[:6])} ... ended with {done.returncode}:\n{said}")
    return done.stdout


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ReleaseError as error:
        sys.exit(f"release: {error}")
