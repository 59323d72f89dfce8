#!/usr/bin/env python3
"""Writes a package's software bill of materials: CycloneDX 1.6, JSON.

    packaging/sbom.py --name PACKAGE --version VERSION --root DIRECTORY --crates CRATE... > PACKAGE.cdx.json
    packaging/sbom.py --check PACKAGE.cdx.json FILE...

The crates are those that cargo resolves for what was built, with the checksums of Cargo.lock. C code that crates bring along
(AWS-LC, SQLite) is listed with its own version. The package's binaries are listed with their SHA-256. The same source gives the
same bytes: the time is SOURCE_DATE_EPOCH, the serial number is derived from the content.

--check compares it with the list that cargo-auditable wrote into each binary: the binaries must name every crate of the document.
They name some more, which are not in them: cargo-auditable takes the features that tests of the workspace turn on for built.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import uuid
import zipfile
import zlib

TARGET = "x86_64-unknown-linux-gnu"
# C code inside of a crate: the file that tells its version, and how.
BUNDLED = {
    "aws-lc-sys": (
        "aws-lc/include/openssl/base.h", r'AWSLC_VERSION_NUMBER_STRING "([^"]+)"', "aws-lc", "Apache-2.0 AND ISC AND MIT AND BSD-3-Clause",
        "pkg:github/aws/aws-lc@v{}"),
    "libsqlite3-sys": ("sqlite3/sqlite3.h", r'#define SQLITE_VERSION +"([^"]+)"', "sqlite", "blessing", "pkg:generic/sqlite@{}"),
}


def cargo(*arguments):
    command = [os.environ.get("CARGO", "cargo"), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def resolved(crates, edges):
    """Names and versions of the crates that these need, as `cargo tree` finds them."""
    arguments = [argument for crate in crates for argument in ("-p", crate)]
    lines = cargo("tree", "--locked", "--target", TARGET, "-e", edges, "--prefix", "none", "-f", "{p}", *arguments)
    found = set()
    for line in lines.splitlines():
        match = re.match(r"(\S+) v(\S+)", line)
        if match:
            found.add(match.groups())
    return found


def reference(name, version):
    return f"pkg:cargo/{name}@{version}"


def licences(expression):
    return [{"expression": expression.replace("/", " OR ")}] if expression else []


def bundled(package):
    """The C code inside of a crate as a component, if it is one that has some."""
    if package["name"] not in BUNDLED:
        return []
    file, pattern, name, licence, purl = BUNDLED[package["name"]]
    text = (pathlib.Path(package["manifest_path"]).parent / file).read_text()
    version = re.search(pattern, text).group(1)
    purl = purl.format(version)
    return [{"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, "licenses": licences(licence)}]


def files(root):
    """The binaries and jars below a directory."""
    found = []
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink() and (path.suffix == ".jar" or path.read_bytes()[:4] == b"\x7fELF"):
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            name = "/" + str(path.relative_to(root))
            found.append({"type": "file", "bom-ref": f"file:{name}", "name": name, "hashes": [{"alg": "SHA-256", "content": digest}]})
    return found


def bill(name, version, root, crates):
    metadata = json.loads(cargo("metadata", "--format-version", "1", "--locked", "--filter-platform", TARGET))
    with open("Cargo.lock", "rb") as lock:
        checksums = {(p["name"], p["version"]): p.get("checksum") for p in tomllib.load(lock)["package"]}
    packages = {(p["name"], p["version"]): p for p in metadata["packages"]}
    everything = resolved(crates, "normal,build")
    linked = resolved(crates, "normal,no-proc-macro")

    components, edges = [], {}
    by_id = {p["id"]: (p["name"], p["version"]) for p in metadata["packages"]}
    nodes = {by_id[node["id"]]: node for node in metadata["resolve"]["nodes"]}
    for key in sorted(everything):
        package = packages[key]
        component = {
            "type": "library",
            "bom-ref": reference(*key),
            "name": key[0],
            "version": key[1],
            # Build scripts and macros run while it is built. They are no part of the package.
            "scope": "required" if key in linked else "excluded",
            "licenses": licences(package["license"]),
            "purl": reference(*key),
        }
        if checksums.get(key):
            component["hashes"] = [{"alg": "SHA-256", "content": checksums[key]}]
        inside = bundled(package)
        if inside:
            component["components"] = inside
        components.append(component)
        needs = {by_id[dependency["pkg"]] for dependency in nodes[key]["deps"]
                 if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"])}
        edges[reference(*key)] = sorted(reference(*need) for need in needs & everything)

    own = f"pkg:generic/{name}@{version}"
    roots = sorted(reference(*key) for key in everything if key[0] in crates)
    dependencies = [{"ref": own, "dependsOn": roots}]
    dependencies += [{"ref": ref, "dependsOn": needs} for ref, needs in sorted(edges.items())]
    time = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "bom-ref": own, "name": name, "version": version, "purl": own,
                          "licenses": licences("Apache-2.0")},
        },
        "components": files(root) + components,
        "dependencies": dependencies,
    }
    content = json.dumps(document, sort_keys=True)
    document["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_OID, content).urn
    return document


def audited(file):
    """The crates that cargo-auditable wrote into a binary; None where it has no list. A jar's binary is inside."""
    with tempfile.TemporaryDirectory() as directory:
        section = pathlib.Path(directory) / "list"
        if zipfile.is_zipfile(file) and file.endswith(".jar"):
            with zipfile.ZipFile(file) as jar:
                inside = next(name for name in jar.namelist() if name.endswith(".so"))
                file = jar.extract(inside, directory)
        subprocess.run(["objcopy", "--dump-section", f".dep-v0={section}", file, "/dev/null"], check=False, stderr=subprocess.DEVNULL)
        if not section.exists():
            return None
        return {(p["name"], p["version"]) for p in json.loads(zlib.decompress(section.read_bytes()))["packages"]}


def check(document, binaries):
    listed = {(c["name"], c["version"]) for c in document["components"] if c["type"] == "library"}
    found, bare = set(), []
    for file in binaries:
        crates = audited(file)
        if crates is None:
            bare.append(file)
        found |= crates or set()
    for file in bare:
        print(f"{file} has no list of crates: it was not built by cargo-auditable", file=sys.stderr)
    for name, version in sorted(listed - found):
        print(f"{name} {version} is in the bill of materials, and no binary names it", file=sys.stderr)
    return not bare and listed <= found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", metavar="DOCUMENT", type=pathlib.Path)
    parser.add_argument("--name")
    parser.add_argument("--version")
    parser.add_argument("--root", type=pathlib.Path)
    parser.add_argument("--crates", nargs="+")
    parser.add_argument("binaries", nargs="*")
    arguments = parser.parse_args()
    if arguments.check:
        sys.exit(0 if check(json.loads(arguments.check.read_text()), arguments.binaries) else 1)
    json.dump(bill(arguments.name, arguments.version, arguments.root, arguments.crates), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
