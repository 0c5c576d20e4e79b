"""Apache Paimon tables for Python, without a JVM. The public module is `pypaimon_rust.datafusion`."""

from pypaimon_rust._errors import ForkSafetyError, PaimonError
from pypaimon_rust._native import __version__

__all__ = ["ForkSafetyError", "PaimonError", "__version__"]
