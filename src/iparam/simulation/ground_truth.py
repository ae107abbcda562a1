"""`GroundTruth`: what a simulation knows and an estimator must not. It travels in a file of its own."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

import numpy as np

from iparam.errors import FileFormatError, InputError
from iparam.files import write_atomically
from iparam.spatial.parameters import InertialParameters
from iparam.trajectory.json_section import read_json

FORMAT = "iparam-truth/1"


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """The payload of a simulated run.

    Attributes:
        payload: mass, centre of mass and inertia in ``frame``; all 0 if the arm carried nothing.
        frame: the tool frame's name, ``tool0`` for the catalogue's arms.
    """

    payload: InertialParameters
    frame: str = "tool0"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON in the format ``iparam-truth/1``, replacing the file in one step."""
        body = self.payload
        document = {
            "format": FORMAT,
            "frame": self.frame,
            "mass": body.mass,
            "center_of_mass": body.center_of_mass.tolist(),
            "inertia_about_com": body.inertia_about_com.tolist(),
            "inertia_about_origin": body.inertia_about_origin.tolist(),
            "phi": body.phi.tolist(),
        }
        write_atomically(path, json.dumps(document, indent=1, allow_nan=False) + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GroundTruth:
        """Read what `save` wrote."""
        document = read_json(path)
        if document.text("format") != FORMAT:
            raise document.error("format", f"is {document.text('format')!r}; this version of iparam reads {FORMAT!r}")
        center, inertia = document.array("center_of_mass", 1), document.array("inertia_about_com", 2)
        try:
            body = InertialParameters(document.number("mass"), center, inertia)
        except InputError as error:
            raise FileFormatError(f"{document.file}: {error}") from None
        stated = document.array("phi", 1)
        if stated.shape != (10,) or not np.allclose(stated, body.phi, rtol=1e-9, atol=1e-12):
            raise FileFormatError(f"{document.file}: phi and the mass, centre of mass and inertia do not agree")
        return cls(body, document.text("frame"))
