"""`read_result`: the one way from a result file to an `Estimate`, with all that the file says held against the rest.

A result is phi and its covariance. Mass, centre of mass, inertias, standard deviations and the verdict follow from
them, and a file states all of these: they are computed again, and a file in which they differ was edited, or damaged.
"""

from __future__ import annotations

import os
from typing import Any, get_args

import numpy as np

from iparam.arrays import ROUNDING, FloatArray, covariance_problem, frozen
from iparam.errors import FileFormatError, IparamError
from iparam.estimation.assessment.motion_path import path_problem
from iparam.estimation.assessment.verdict import Word, verdict_on
from iparam.estimation.estimate import FORMAT, SUCCESS, Cause, Estimate, Refutation, StandardDeviations, Wrench
from iparam.estimation.shape.found import FoundShape
from iparam.estimation.static.result_document import STATIC_FORMAT, as_result
from iparam.files.json import JsonSection, read_json
from iparam.files.kind import FileKind
from iparam.remarks import Plain, Remark, plain, read_remark, remark
from iparam.rounding import NORMAL_95
from iparam.sensing.correction import Correction
from iparam.spatial.consistency import check_consistency, may_be_body
from iparam.spatial.derived import derived_part, mass_com_inertia_jacobian, symmetric

EDITED = "was the file edited by hand?"
_NOTHING = Wrench(frozen(np.zeros(3)), frozen(np.zeros(3)))


def read_result(path: str | os.PathLike[str]) -> Estimate:
    """Read what `Estimate.save` or `StaticEstimate.save` wrote; the latter is a result without inertia.

    Results that no wrench was used for lack residual_rms, others what is None in their `Estimate`.

    Raises:
        FileFormatError: a field is missing, or of another kind; or fields contradict each other, or cannot be.
    """
    document = read_json(path, wanted=(FileKind.RESULT, FileKind.STATIC_RESULT))
    stated = document.text("format")
    if stated == STATIC_FORMAT:
        document = as_result(document)
    elif stated != FORMAT:
        raise document.error("format", f"is {stated!r}; this version of iparam reads {FORMAT!r}")
    found = _estimate(document)
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            _check_load(document, found)
            _check_deviations(document, found)
    except ArithmeticError:
        raise document.error("phi", f"has a centre of mass, or a deviation, too large for a number: {EDITED}") from None
    if found.path is not None and (problem := path_problem(found.path)):
        raise document.error("path", problem)
    verdict = document.section("assessment").text("verdict")
    if verdict != (computed := verdict_on(found).word):
        raise document.error("assessment", f"has the verdict {verdict!r}, and the result is {computed!r}: {EDITED}")
    return found


def _estimate(document: JsonSection) -> Estimate:
    deviation = document.section("standard_deviation")
    unlimited = "condition_number" in document.content and not document.has("condition_number")
    return Estimate(
        method=document.text("method"),
        mass=_number(document, "mass"),
        center_of_mass=_shaped(document, "center_of_mass", (3,)),
        inertia_about_com=_shaped(document, "inertia_about_com", (3, 3)),
        inertia_about_origin=_shaped(document, "inertia_about_origin", (3, 3)),
        phi=_shaped(document, "phi", (10,)),
        standard_deviation=StandardDeviations(
            _number(deviation, "mass"),
            _shaped(deviation, "center_of_mass", (3,)),
            _shaped(deviation, "inertia_about_com", (3, 3)),
            _shaped(deviation, "phi", (10,)),
        ),
        covariance_phi=_shaped(document, "covariance_phi", (10, 10)),
        physically_consistent=_flag(document, "physically_consistent"),
        condition_number=np.inf if unlimited else _at_least(document, "condition_number", 1.0),
        residual_norm=_at_least(document, "residual_norm", 0.0),
        residual_rms=_wrench(document, "residual_rms", least=0.0) or _NOTHING,
        sensor_bias=_wrench(document, "sensor_bias"),
        samples=_samples(document, unlimited),
        data_share=_share(document, "data_share"),
        remarks=stated_remarks(document),
        status=document.text("status") if document.has("status") else SUCCESS,
        robot=document.text("robot") if document.has("robot") else "",
        frame=_name(document, "frame"),
        measurements=_texts(document, "measurements", ()),
        path=frozen(document.array("path", 2)) if document.has("path") else None,
        refutation=stated_refutation(document),
        causes=_causes(document.section("assessment")),
        **_stated_correction(document),
        covariance_terms=_terms(document),
        shape=FoundShape.from_document(document.section("shape")) if document.has("shape") else None,
    )


def _check_load(document: JsonSection, found: Estimate) -> None:
    """Refuse what is not the load of phi."""
    phi = found.phi
    if phi[0] == 0.0:
        raise document.error("phi", "has a mass of 0: there is no load")
    values = derived_part(phi, np.zeros((10, 10)))[0]
    reach = float(np.max(np.abs(np.nan_to_num(values[1:4]))))
    size = max(float(np.max(np.abs(np.nan_to_num(phi[4:])))), float(np.nan_to_num(abs(phi[0]))) * reach**2)
    for key, stated, computed, scale in (
        ("mass", found.mass, values[0], abs(values[0])),
        ("center_of_mass", found.center_of_mass, values[1:4], reach),
        ("inertia_about_origin", found.inertia_about_origin, symmetric(phi[4:]), size),
        ("inertia_about_com", found.inertia_about_com, symmetric(values[4:]), size),
    ):
        if not _agree(stated, computed, scale):
            raise document.error(key, f"does not agree with phi: {EDITED}")
    if "determined" in document.content and document.content["determined"] != list(found.determined):
        raise document.error("determined", f"does not agree with phi, which has {list(found.determined)}: {EDITED}")
    if found.physically_consistent != may_be_body(phi) and not _on_the_verge(phi):
        raise document.error("physically_consistent", f"does not agree with phi: {EDITED}")


def _on_the_verge(phi: FloatArray) -> bool:
    """Whether rounding decides if a body can have phi (10,): a method may stop at the nearest that one can have."""
    if np.isnan(phi).any():
        return False
    return abs(check_consistency(phi).smallest_pseudo_inertia_eigenvalue) <= ROUNDING * float(np.abs(phi).max())


def _check_deviations(document: JsonSection, found: Estimate) -> None:
    """Refuse a covariance that none can be, and standard deviations that are not those of the covariance."""
    covariance, stated, known = found.covariance_phi, found.standard_deviation, ~np.isnan(found.phi)
    unknown = np.isnan(covariance).all()  # as a whole, see `Estimate.from_phi`
    if not unknown and not np.array_equal(np.isnan(covariance), ~np.outer(known, known)):
        raise document.error("covariance_phi", "and phi are not null in the same places")
    if not unknown and (problem := covariance_problem(covariance[np.ix_(known, known)])):
        raise document.error("covariance_phi", f"{problem}: {EDITED}")
    section, variance = document.section("standard_deviation"), np.diag(covariance)
    derived, scale = np.full(10, np.nan), np.zeros(10)
    if known[0]:
        derived = derived_part(found.phi, covariance)[1]
        jacobian = np.abs(mass_com_inertia_jacobian(found.known_phi))
        scale = np.einsum("ij,jk,ik->i", jacobian, np.abs(np.nan_to_num(covariance)), jacobian)
    if found.covariance_terms and not unknown:
        total = np.sum(list(found.covariance_terms.values()), axis=0)
        if not _agree(total, covariance, np.sqrt(np.outer(variance, variance))):
            raise document.error("covariance_terms", f"do not add up to covariance_phi: {EDITED}")
    for key, value, computed, size in (
        ("phi", stated.phi, variance, np.nan_to_num(variance)),
        ("mass", stated.mass, derived[0], scale[0]),
        ("center_of_mass", stated.center_of_mass, derived[1:4], scale[1:4]),
        ("inertia_about_com", stated.inertia_about_com, symmetric(derived[4:]), symmetric(scale[4:])),
    ):
        if (np.asarray(value) < 0.0).any() or not _agree(np.square(value), computed, size):
            raise section.error(key, f"does not agree with covariance_phi: {EDITED}")
    if document.has("mass_interval_95"):
        bounds = found.mass + NORMAL_95 * found.standard_deviation.mass * np.array([-1.0, 1.0])
        if not _agree(_shaped(document, "mass_interval_95", (2,)), bounds, float(np.abs(bounds).max())):
            raise document.error("mass_interval_95", f"does not agree with the mass: {EDITED}")


def stated_refutation(document: JsonSection) -> Refutation | None:
    """What the ``assessment`` of a file says against its load; None where its verdict is another."""
    part = document.section("assessment")
    verdict = part.text("verdict")
    if verdict not in get_args(Word):
        raise part.error("verdict", f"is {verdict!r}; it is one of {', '.join(get_args(Word))}")
    return Refutation(part.text("sentence"), _causes(part)) if verdict == "refuted" else None


def _causes(part: JsonSection) -> tuple[Cause, ...]:
    return tuple(
        Cause(
            cause.text("cause"),
            cause.text("sentence"),
            _at_least(cause, "residual_before", 0.0),
            _at_least(cause, "residual_after", 0.0),
            _fix(cause),
        )
        for cause in (part.sections("causes") if part.has("causes") else [])
    )


def _fix(cause: JsonSection) -> dict[str, Plain]:
    stated = cause.content.get("fix") or {}
    if not isinstance(stated, dict):
        raise cause.error("fix", "must name fields and their values")
    return {str(name): plain(value) for name, value in stated.items()}


def stated_remarks(document: JsonSection) -> tuple[Remark, ...]:
    """The remarks of a result file; every result of an identification states them, and one that does not is doubted.

    Older files have the messages alone, "warnings": where they are none, there is nothing to doubt.
    """
    if "remarks" not in document.content:
        return () if document.content.get("warnings") == [] else (remark("remarks-unstated"),)
    entries = document.content["remarks"]
    if not isinstance(entries, list):
        raise document.error("remarks", "must be a list")
    return tuple(read_remark(one, str(document.file)) for one in entries)


def _stated_correction(document: JsonSection) -> dict[str, Any]:
    """The correction of a result file, and the deviations of what was estimated of it."""
    if not document.has("correction"):
        return {}
    part = document.section("correction")
    values, deviations = {}, {}
    for name in part.content:
        entry = part.section(name)
        values[name] = entry.content.get("value")
        if entry.has("standard_deviation"):
            own = entry.array("standard_deviation", 1)
            if (own < 0.0).any():
                raise entry.error("standard_deviation", f"is negative: {own.tolist()}")
            deviations[name] = tuple(own.tolist())
    try:
        return {"correction": Correction.from_document(values), "correction_deviations": deviations}
    except IparamError as error:
        raise document.error("correction", f"cannot be used: {error}") from None


def _agree(stated: Any, computed: Any, scale: Any) -> bool:
    """Whether numbers are the same up to `ROUNDING` of the scale, and null in the same places."""
    known = ~np.isnan(computed)
    near = np.abs(np.subtract(stated, computed)) <= ROUNDING * np.asarray(scale)
    return bool(np.array_equal(~np.isnan(stated), known) and (near | ~known).all())


def _number(section: JsonSection, key: str) -> float:
    return section.number(key) if section.has(key) or key not in section.content else float("nan")


def _at_least(section: JsonSection, key: str, least: float) -> float:
    value = section.number(key)
    if value < least:
        raise section.error(key, f"must be at least {least:g}, got {value:g}")
    return value


def _samples(section: JsonSection, no_motion: bool) -> int:
    """How many there were; none only of a load that was not measured, see `Estimate.from_phi`."""
    given = no_motion and section.number("residual_norm") == 0.0 and section.number("samples") == 0.0
    return 0 if given else section.count("samples")


def _flag(section: JsonSection, key: str) -> bool:
    value = section.content.get(key)
    if not isinstance(value, bool):
        raise section.error(key, "must be true or false")
    return value


def _share(section: JsonSection, key: str) -> FloatArray | None:
    if not section.has(key):
        return None
    values = _shaped(section, key, (10,))
    if not ((values >= 0.0) & (values <= 1.0)).all():
        raise section.error(key, "must be ten numbers from 0 to 1")
    return values


def _shaped(section: JsonSection, key: str, shape: tuple[int, ...]) -> FloatArray:
    if key in section.content and section.content[key] is None:
        return frozen(np.full(shape, np.nan))
    values = section.array(key, len(shape), nullable=True)
    if values.shape != shape:
        raise FileFormatError(f"{section.file}: {section.path(key)} must have shape {shape}, got {values.shape}")
    return frozen(values)


def _name(section: JsonSection, key: str) -> str:
    if not section.has(key):
        return ""
    name = section.text(key)
    if not name.isprintable() or not name.strip():
        raise section.error(key, f"must be a printable name on one line, got {name!r}")
    return name


def _terms(document: JsonSection) -> dict[str, FloatArray]:
    """What the covariance is the sum of; older files do not say it."""
    if not document.has("covariance_terms"):
        return {}
    part = document.section("covariance_terms")
    return {name: _shaped(part, name, (10, 10)) for name in part.content}


def _texts(document: JsonSection, key: str, missing: tuple[str, ...]) -> tuple[str, ...]:
    if key not in document.content:
        return missing
    texts = document.content[key]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise document.error(key, "must be a list of texts")
    return tuple(texts)


def _wrench(document: JsonSection, key: str, least: float = -np.inf) -> Wrench | None:
    if not document.has(key):
        return None
    part = document.section(key)
    for name in ("force", "torque"):
        values = part.array(name, 1)
        if values.shape != (3,) or (values < least).any():
            raise part.error(name, f"must be three numbers{'' if least < 0.0 else ' of at least 0'}")
    return Wrench(_shaped(part, "force", (3,)), _shaped(part, "torque", (3,)))
