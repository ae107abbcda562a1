"""The bodies of mesh files, as trimesh reads them: STL, OBJ, PLY, binary glTF and COLLADA."""

from __future__ import annotations

import io
import logging
import re
from typing import Any

import numpy as np
from defusedxml.ElementTree import fromstring

MOST_TRIANGLES = 2_000_000
"""Of one file, with all places that its scene has for them."""

_SETTINGS: dict[str, dict[str, Any]] = {
    "obj": {"skip_materials": True, "split_objects": True},
    "dae": {"ignore_broken": False},
}
_NAMELESS = re.compile(r"geometry(_\d+)?")


def mesh_bodies(content: bytes, kind: str) -> list[tuple[str, Any]]:
    """The name and the ``trimesh.Trimesh``, in the scene's frame and in metres where the file says so, of each body.

    They are as they stand in the file: trimesh's own processing drops triangles with a vertex that is not finite, and
    leaves a hole.

    Args:
        content: of the file.
        kind: its suffix, without a dot and in lower case.

    Raises:
        ValueError: the file holds too many triangles; anything else that trimesh raises for a damaged one.
    """
    import trimesh  # half a second, and few commands read a mesh

    logging.getLogger("trimesh").addHandler(logging.NullHandler())  # or Python prints its tracebacks where nobody asked
    metre = _checked_collada(content) if kind == "dae" else 1.0
    scene = trimesh.load_scene(io.BytesIO(content), file_type=kind, process=False, **_SETTINGS.get(kind, {}))
    bodies, count = [], 0
    for node in sorted(scene.graph.nodes_geometry):
        transform, geometry = scene.graph[node]
        mesh = scene.geometry[geometry]
        if not hasattr(mesh, "faces") or not len(mesh.faces):
            continue
        count += len(mesh.faces)
        if count > MOST_TRIANGLES:
            raise ValueError(f"it has more than {MOST_TRIANGLES} triangles: let a mesh program reduce them")
        if not 0 <= int(mesh.faces.min()) <= int(mesh.faces.max()) < len(mesh.vertices):
            raise ValueError(f"a triangle has vertex {int(mesh.faces.max()) + 1} of {len(mesh.vertices)}")
        placed = mesh.copy()
        placed.apply_transform(np.diag([metre, metre, metre, 1.0]) @ np.asarray(transform))
        bodies.append(("body" if _NAMELESS.fullmatch(str(node)) else str(node), placed))
    return bodies


def _checked_collada(content: bytes) -> float:
    """Metres in the unit of a COLLADA file; refuses one that is small and whose scene is large."""
    root = fromstring(content, forbid_dtd=True, forbid_entities=True, forbid_external=True)
    elements = list(root.iter())
    for element in elements:
        element.tag = element.tag.rpartition("}")[2]
    if any(element.tag == "instance_node" for element in elements):
        raise ValueError("its scene has nodes in several places (<instance_node>): export it with them applied")
    sizes = {
        f"#{element.get('id')}": sum(len(part.text or "") for part in element.iter())
        for element in elements
        if element.tag == "geometry"
    }
    if sum(sizes.get(str(element.get("url")), 0) for element in elements if element.tag == "instance_geometry") > (
        10 * len(content)
    ):
        raise ValueError("its scene has one part in very many places")
    unit = root.find("asset/unit")
    return float(unit.get("meter", "1")) if unit is not None else 1.0
