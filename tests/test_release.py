"""What is released holds everything, runs by itself, and says the same of itself everywhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import release
from release import Built, NoIndexError, ReleaseError

import iparam

DATE = "2026-12-24"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    try:
        return release.build(tmp_path_factory.mktemp("dist"))
    except NoIndexError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An environment with the wheel and what it asks for, and nothing else; 700 MB, which do not stay."""
    folder = tmp_path_factory.mktemp("installed") / "environment"
    release.install(built.wheel, folder)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.thorough
def test_the_wheel_holds_the_whole_package_and_nothing_else(built: Built) -> None:
    package = release.ROOT / "src"
    files = {
        path.relative_to(package).as_posix()
        for path in (package / "iparam").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert len(files) > 500
    assert {name for name in built.packed if ".dist-info/" not in name} == files
    assert {"LICENSE", "NOTICE"} <= {name.rpartition("/")[2] for name in built.packed}


@pytest.mark.thorough
def test_the_sdist_is_the_whole_repository(built: Built) -> None:
    if not (release.ROOT / ".git").exists():
        pytest.skip("this is no checkout: what belongs to it is not known")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=release.ROOT, capture_output=True, text=True, check=True)
    tracked = {name for name in listed.stdout.split("\0") if name and (release.ROOT / name).exists()}
    assert len(tracked) > 1000
    assert tracked - built.sources == set()
    strangers = {name for name in built.sources - tracked if not name.endswith("PKG-INFO")}
    assert not {name for name in strangers if name.startswith((".venv", "build/", "dist/")) or "__pycache__" in name}


@pytest.mark.thorough
def test_the_demo_runs_from_the_wheel_where_no_home_can_be_written(installed: Path, tmp_path: Path) -> None:
    """Outside the checkout. What the wheel does not hold or ask for is not there."""
    assert release.try_out(installed, tmp_path, "--version") == f"iparam {iparam.__version__}\n"
    printed = release.try_out(installed, tmp_path, "demo", "--time-budget", "1")
    assert "The load of a simulated ur5e" in printed
    assert {path.name for path in tmp_path.iterdir()} == {"home", "iparam-demo"}
    assert (tmp_path / "home").stat().st_size == 0
    found = json.loads((tmp_path / "iparam-demo" / "result.json").read_text(encoding="utf-8"))
    assert abs(found["mass"] - 2.0) < 4.0 * found["standard_deviation"]["mass"] < 0.02
    assert (tmp_path / "iparam-demo" / "report.html").stat().st_size > 100_000


def test_the_citation_has_version_and_date_of_the_release() -> None:
    assert (release.ROOT / "CITATION.cff").read_text(encoding="utf-8") == release.citation()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A small one of a released version, all committed."""
    (tmp_path / "src" / "iparam").mkdir(parents=True)
    (tmp_path / "src" / "iparam" / "__init__.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## [1.2.3] - {DATE}\n\n- New.\n\n## [1.2.2] - 2026-01-01\n")
    (tmp_path / "CITATION.cff").write_text("title: t\nversion: 1.2.2\ndate-released: 2026-01-01\nlicense: x\n")
    (tmp_path / "CITATION.cff").write_text(release.citation(tmp_path))
    commit(tmp_path, "init", "--quiet")
    return tmp_path


def commit(folder: Path, *before: str) -> None:
    author = {f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for command in (before, ("add", "--all"), ("commit", "--quiet", "--message", "t")):
        if command:
            subprocess.run(["git", *command], cwd=folder, check=True, env={**os.environ, **author})


def test_a_version_that_heads_the_changelog_is_released_with_its_date(repository: Path) -> None:
    release.check_ready(repository)
    cited = (repository / "CITATION.cff").read_text()
    assert cited == f"title: t\nversion: 1.2.3\ndate-released: {DATE}\nlicense: x\n"


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "CHANGELOG.md",
            "## [Unreleased]\n\n## [1.2.3] - 2026-12-24\n",
            r"first heading of CHANGELOG.md '\[Unreleased",
        ),
        ("CHANGELOG.md", "## [1.2.2] - 2026-01-01\n", r"the version is 1.2.3 .* it has to be '\[1.2.3\] - YYYY-MM-DD'"),
        ("CHANGELOG.md", "## [1.2.3]\n", "it has to be"),
        ("CHANGELOG.md", f"## [1.2.3] - {DATE[:-1]}5\n", "CITATION.cff states another version or date"),
        ("src/iparam/__init__.py", "", "states no __version__"),
    ],
)
def test_a_version_that_is_not_written_down_is_not_released(
    repository: Path, file: str, text: str, message: str
) -> None:
    (repository / file).write_text(text)
    commit(repository)
    with pytest.raises(ReleaseError, match=message):
        release.check_ready(repository)


@pytest.mark.parametrize("file", ["CHANGELOG.md", "new.txt"])
def test_what_nobody_committed_is_not_released(repository: Path, file: str) -> None:
    with (repository / file).open("a") as stream:
        stream.write("more\n")
    with pytest.raises(ReleaseError, match=rf"the working tree has changes \(.*{file}\): commit"):
        release.check_ready(repository)


def test_before_its_release_a_version_has_no_date(repository: Path) -> None:
    (repository / "CHANGELOG.md").write_text("## [Unreleased]\n")
    assert "date-released" not in release.citation(repository)
