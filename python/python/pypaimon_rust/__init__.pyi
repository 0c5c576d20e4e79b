"""Apache Paimon tables for Python, without a JVM. The public module is `pypaimon_rust.datafusion`."""

from pypaimon_rust._errors import ForkSafetyError as ForkSafetyError
from pypaimon_rust._errors import PaimonError as PaimonError

__all__ = ["ForkSafetyError", "PaimonError", "__version__"]

__version__: str
