"""Checks what `make wheel` made: one abi3 wheel for Python 3.10 and later, within its limits of size, its library stripped."""

import pathlib
import sys
import zipfile

WHEEL_LIMIT = 45_000_000
LIBRARY_LIMIT = 130_000_000
# Sections with the symbols of an ELF file.
SYMBOLS = b"\0.symtab\0"


def faults(path):
    """What is wrong with a wheel, in words."""
    found = []
    if "-cp310-abi3-" not in path.name:
        found.append(f"{path.name} is no abi3 wheel for Python 3.10 and later")
    size = path.stat().st_size
    if size > WHEEL_LIMIT:
        found.append(f"{path.name} has {size} bytes, more than {WHEEL_LIMIT}")
    with zipfile.ZipFile(path) as archive:
        libraries = [info for info in archive.infolist() if info.filename.startswith("pypaimon_rust/_native.")]
        libraries = [info for info in libraries if not info.filename.endswith(".pyi")]
        if len(libraries) != 1:
            return [*found, f"{path.name} holds {len(libraries)} libraries instead of one"]
        library = libraries[0]
        if library.file_size > LIBRARY_LIMIT:
            found.append(f"{library.filename} has {library.file_size} bytes, more than {LIBRARY_LIMIT}")
        if SYMBOLS in archive.read(library):
            found.append(f"{library.filename} is not stripped")
    return found


def main(directory):
    wheels = sorted(pathlib.Path(directory).glob("*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        return f"{directory} holds no wheel"
    return "\n".join(faults(wheels[-1])) or None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
