"""Isaac Lab and Isaac Sim, run by their users: a plan played on an articulation of theirs becomes a recording.

Nothing of Isaac is imported here: what is read and called are the documented attributes of the objects that are given.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
