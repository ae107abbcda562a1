"""What an SDF's <include> brings in, and every version of the format as version 1.7 would say it.

Versions differ in one thing that matters here: what a joint's axis is given in. Up to 1.4 that is the model's frame; in
1.5 and 1.6 the joint's, unless <use_parent_model_frame> is true; from 1.7 on the joint's, unless expressed_in= names
another. Before 1.7, relative_to= is not in the format.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

from iparam.errors import FileFormatError, IparamError
from iparam.robot.description.sdf_values import text_of
from iparam.robot.urdf.references import GAZEBO_ROOTS, check_referenced, find_referenced
from iparam.robot.urdf.xml import Place, attribute, child, read_root

MODEL_FRAME = "__model__"

_MODERN = (1, 7)
_CONFIG = "model.config"


def modernise(root: Element, path: Path) -> None:
    """Change the elements of an <sdf> to what they would be in version 1.7 and later, in place."""
    text = root.get("version", "")
    try:
        version = tuple(int(part) for part in text.split("."))
    except ValueError:
        raise FileFormatError(f"{path}: the version of <sdf> must be such as 1.7, got {text!r}") from None
    if version >= _MODERN:
        return
    for pose in root.iter("pose"):
        pose.attrib.pop("relative_to", None)
    for axis in root.iter("axis"):
        in_model = (axis.findtext("use_parent_model_frame") or "").strip() in ("true", "1")
        for xyz in axis.findall("xyz"):
            xyz.attrib.pop("expressed_in", None)
            if version < (1, 5) or in_model:
                xyz.set("expressed_in", MODEL_FRAME)


def included_model(element: Element, place: Place) -> tuple[Element, Place]:
    """The <model> that an <include> stands for, with the name and pose that it is given there, and where it is.

    Args:
        element: the <include>.
        place: of what it is in.

    Raises:
        FileFormatError: it is nowhere to be found, or is no SDF with one model.
    """
    uri = text_of(element, "uri", place.inside("include"))
    place = place.elsewhere(f"<include> of {uri!r}")
    if element.get("merge", "false").strip() in ("true", "1"):
        raise place.error("merge= is not supported: leave it out, and call its links NAME::LINK")
    if uri.startswith(("http://", "https://")):
        raise FileFormatError(f"{place.file}: {place.element} is not fetched: name a folder that it was downloaded to")
    path = _included_file(uri, Path(place.file))
    if path is None:
        raise FileFormatError(
            f"{place.file}: {place.element} is found neither beside the file, nor above it, nor where "
            f"{' or '.join(GAZEBO_ROOTS[:2])} points to"
        )
    root = read_root(path)
    models = root.findall("model") if root.tag == "sdf" else []
    if len(models) != 1:
        raise FileFormatError(f"{place.file}: {place.element}: {path} is no SDF with one <model>")
    modernise(root, path)
    model, there = models[0], Place(str(path), place.element, place.deviations)
    if name := text_of(element, "name", place):
        model.set("name", name)
    for tag in ("pose", "static", "placement_frame"):
        given = child(element, tag, place)
        if given is not None:
            for own in model.findall(tag):
                model.remove(own)
            model.append(given)
    attribute(model, "name", there)
    return model, there


def _included_file(uri: str, description: Path) -> Path | None:
    found = find_referenced(uri, description, folders=True)
    if found is None or found.is_file():
        return found
    file = _main_file(found)
    try:
        check_referenced(file, description)
    except OSError:
        return None
    return file if file.is_file() else None


def _main_file(folder: Path) -> Path:
    """The file of a model's folder that its configuration names, of several the newest version's."""
    try:
        named = read_root(folder / _CONFIG).findall("sdf")
        newest = max(named, key=lambda one: [int(part) for part in one.get("version", "0").split(".")])
    except (IparamError, ValueError):
        return folder / "model.sdf"
    return folder / Path((newest.text or "").strip()).name
