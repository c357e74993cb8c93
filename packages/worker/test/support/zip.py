"""Writes a zip of the entries that come as JSON, whatever they say of themselves."""
import json
import sys
import warnings
import zipfile

warnings.simplefilter("ignore")
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as archive:
    for entry in json.load(sys.stdin):
        info = zipfile.ZipInfo(entry["name"])
        info.create_system = 3
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = entry.get("mode", 0o100644) << 16
        archive.writestr(info, entry.get("content", ""))
