"""The SBOM of a wheel: CycloneDX 1.6 as JSON, of what .ci/requirements.txt pins.

python -m docs.generate.sbom WHEEL      prints it; the same wheel and pins give the same bytes

A component's hashes are those of all its files that pip may install: one for each platform. What has
a marker, for some platforms, is optional.
"""

import hashlib
import json
import re
import sys
import uuid
from email.parser import HeaderParser
from pathlib import Path
from typing import Any
from zipfile import ZipFile

PINS = Path(__file__).resolve().parents[2] / ".ci" / "requirements.txt"
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)( ;)?.*\\\n((?:    --hash=sha256:[0-9a-f]{64}.*\n?)+)", re.MULTILINE)
_HASH = re.compile(r"sha256:([0-9a-f]{64})")


def component(name: str, version: str, hashes: list[str], **more: Any) -> dict[str, Any]:
    """A package of Python."""
    purl = f"pkg:pypi/{name}@{version}"
    told = [{"alg": "SHA-256", "content": one} for one in hashes]
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, "hashes": told, **more}


def sbom(wheel: Path, pins: str) -> dict[str, Any]:
    """The document, of the wheel's own metadata and the pins."""
    with ZipFile(wheel) as file:
        path = next(name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(file.read(path).decode())
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    licences = [{"license": {"id": metadata["License-Expression"]}}]
    own = component("nobrakes", metadata["Version"], [digest], licenses=licences) | {"type": "application"}
    found = [
        component(name, version, _HASH.findall(hashes), scope="optional" if marker else "required")
        for name, version, marker, hashes in PIN.findall(pins)
    ]
    direct = {re.split(r"[^\w-]", one)[0] for one in metadata.get_all("Requires-Dist", []) if "extra ==" not in one}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
        "version": 1,
        "metadata": {"component": own},
        "components": found,
        "dependencies": [
            {"ref": own["bom-ref"], "dependsOn": [one["bom-ref"] for one in found if one["name"] in direct]}
        ],
    }


if __name__ == "__main__":
    print(json.dumps(sbom(Path(sys.argv[1]), PINS.read_text(encoding="utf-8")), indent=1))
