"""Makes the wheels that the robots with a `conda.yaml` install, without a network: `python3 wheels.py [FOLDER]`.

Those of a robot of yours come from `pip download --only-binary :all: --dest wheels --requirement list.txt` instead.
"""

import base64
import hashlib
import pathlib
import sys
import zipfile

HERE = pathlib.Path(__file__).parent

# The folder or file of each library, and what it requires.
LIBRARIES = {
    "control-room-robot": (HERE / "python" / "package" / "robot.py", []),
    "order-taxes": (HERE / "libraries" / "order_taxes", []),
    "order-letters": (HERE / "libraries" / "order_letters", ["order-taxes==1.0"]),
}


def files_of(name, source):
    module = name.replace("-", "_")
    if source.is_file():
        return {f"{module}/__init__.py": source.read_bytes()}
    return {f"{module}/{path.name}": path.read_bytes() for path in sorted(source.glob("*.py"))}


def write(folder, name, source, requires):
    module = name.replace("-", "_")
    info = f"{module}-1.0.dist-info"
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0", *(f"Requires-Dist: {one}" for one in requires)]
    wheel = ["Wheel-Version: 1.0", "Generator: wheels.py", "Root-Is-Purelib: true", "Tag: py3-none-any"]
    files = files_of(name, source)
    files[f"{info}/METADATA"] = ("\n".join(metadata) + "\n").encode()
    files[f"{info}/WHEEL"] = ("\n".join(wheel) + "\n").encode()
    hashes = {path: base64.urlsafe_b64encode(hashlib.sha256(content).digest()) for path, content in files.items()}
    record = [f"{path},sha256={found.rstrip(b'=').decode()},{len(files[path])}" for path, found in hashes.items()]
    files[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,"]) + "\n").encode()
    path = folder / f"{module}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, content in files.items():
            # The same time in all, so that the same sources give the same wheel.
            archive.writestr(zipfile.ZipInfo(file, (2020, 1, 1, 0, 0, 0)), content)
    print(path)


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "wheels"
    target.mkdir(parents=True, exist_ok=True)
    for name, (source, requires) in LIBRARIES.items():
        write(target, name, source, requires)
