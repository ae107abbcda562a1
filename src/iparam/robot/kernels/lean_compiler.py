"""Numba's compiler without what kernels do not need, and libraries of machine code that are optimised once.

Numba looks in every function for closures to inline and for expressions of whole arrays, optimises it by itself, then
everything around it lightly, to see which counts of references can go, and at last all of it in full. Kernels have no
closures, compute with numbers and, unless they make numpy's arrays, count no references. The last of these steps does
what the others did before.
"""

from __future__ import annotations

from typing import Any, ClassVar

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.typed_passes import NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes

NEEDLESS = (InlineClosureLikes, NopythonRewrites)


class KernelLibrary(JITCodeLibrary):
    """Code of a kernel without counts of references: optimised as a whole, once."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.enable_object_caching()

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class PartLibrary(JITCodeLibrary):
    """Code that is linked into kernels, and neither optimised as a whole nor made machine code by itself.

    Each function is made smaller before: it may be linked into several kernels.
    """

    def finalize(self) -> None:
        """Link what it calls."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is none."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """What `set_env` is called of."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Numba leaves here, in the machine code, what raising an error would need: that of the kernel is used."""


class KernelCompiler(Compiler):
    """Numba's compiler for a kernel without counts of references."""

    library: ClassVar[type[JITCodeLibrary]] = KernelLibrary

    def __init__(self, typing: Any, target: Any, library: Any, *others: Any) -> None:
        super().__init__(typing, target, library or self.library(target.codegen(), "kernel"), *others)

    def define_pipelines(self) -> Any:
        """Numba's own, without what is needless."""
        (manager,) = super().define_pipelines()
        manager.passes = [one for one in manager.passes if one[0] not in NEEDLESS]
        manager.finalize()
        return [manager]


class PartCompiler(KernelCompiler):
    """The same for a part of kernels."""

    library = PartLibrary
