"""Apache Paimon tables for Python, without a JVM. The public module is `pypaimon_rust.datafusion`."""

import sysconfig as _sysconfig

# The native library is built for interpreters with the lock; another one would not find it, or crash in it.
if _sysconfig.get_config_var("Py_GIL_DISABLED"):
    raise ImportError("pypaimon_rust does not support free-threaded builds of Python; use a build with the interpreter lock")

from pypaimon_rust._errors import ForkSafetyError, PaimonError  # noqa: E402
from pypaimon_rust._native import __version__  # noqa: E402

__all__ = ["ForkSafetyError", "PaimonError", "__version__"]
