"""JSON: the load alone, in iparam's own terms, ``iparam-load/1``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from iparam.export.comment import comment_lines
from iparam.export.load import LOAD_FORMAT, IdentifiedLoad, StaticLoad
from iparam.files.json import json_text
from iparam.remarks import messages
from iparam.spatial.inertia import principal_axes

_POINTS = "phi: m, m cx, m cy, m cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the frame's origin."


def to_json(load: IdentifiedLoad) -> str:
    """What `IdentifiedLoad.from_json` reads, and the inertia in its other forms."""
    rotation, moments = principal_axes(load.inertia_about_com)
    return _document(
        load,
        (
            "Mass [kg]; center_of_mass in the frame [m]; inertias [kg m^2] about their point, in the frame's axes.",
            _POINTS,
            "principal_axes: one a column; their moments are about the centre of mass.",
        ),
        {
            "inertia_about_com": load.inertia_about_com.tolist(),
            "inertia_about_origin": load.inertia_about_origin.tolist(),
            "phi": load.phi.tolist(),
            "principal_moments": moments.tolist(),
            "principal_axes": rotation.tolist(),
        },
    )


def to_json_static(load: StaticLoad) -> str:
    """The same of a load whose inertia is not known in full: null, as in the result."""
    comment = "Mass [kg]; center_of_mass in the frame [m]. The inertia is not known in full: null."
    phi = [load.mass, *(load.mass * load.center_of_mass).tolist(), *([None] * 6)]
    return _document(load, (comment, _POINTS), {"inertia_about_com": None, "phi": phi})


def _document(load: IdentifiedLoad | StaticLoad, comment: Sequence[str], inertia: Mapping[str, Any]) -> str:
    document = {
        "format": LOAD_FORMAT,
        "comment": comment_lines(load, *comment),
        "frame": load.frame,
        "mass": load.mass,
        "center_of_mass": load.center_of_mass.tolist(),
        **inertia,
        "physically_consistent": not load.violations,
        "warnings": list(messages(load.remarks)),
        "remarks": [one.to_document() for one in load.remarks],
        **({"assessment": {"verdict": "refuted", "sentence": load.refuted}} if load.refuted else {}),
    }
    return json_text(document)
