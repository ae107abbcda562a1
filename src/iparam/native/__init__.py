"""The native core: loops over samples in C++ (`src/native`), behind typed functions. They do not check their input."""
