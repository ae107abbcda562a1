"""What can go wrong in an export."""

from __future__ import annotations

from iparam.errors import IparamError


class InconsistentLoadError(IparamError, ValueError):
    """No body of positive density can have these parameters, so a consumer would refuse them or misbehave."""
