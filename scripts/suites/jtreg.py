"""Runs tests of the JDK that are written for jtreg, as far as a plain `java` can: jtreg.py HOME SOURCE WORK ONLY PROVIDER OPTION...

HOME is the JDK. SOURCE has the directories jdk and lib of its tests. A test is a file with @test and a main method. Its lines @run main,
@compile, @modules and @library are obeyed. If PROVIDER is not empty, it stands in the place of SunEC and of SunRsaSign, in the test's text
and in its arguments. Left out are tests that name other providers, or change their order. OPTION is one of Java for each test. Prints a
line for each run, as TAP.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

DIRECTORIES = ["java/security/Signature", "java/security/SignedObject", "java/security/KeyAgreement", "java/security/KeyPairGenerator",
               "java/security/KeyFactory", "java/security/KeyRep", "java/security/spec", "javax/crypto/KeyAgreement", "javax/crypto/KEM",
               "sun/security/ec", "sun/security/rsa", "com/sun/crypto/provider/KeyAgreement"]
# Providers whose services are Outboard's, too.
OURS = re.compile(r'"(SunEC|SunRsaSign)"')
# Another provider's name, or an order of providers that a test makes itself.
OTHERS = re.compile(r'"(?!SunEC"|SunRsaSign")Sun[A-Z]\w*"|"SUN"|insertProviderAt|addProvider|removeProvider|PKCS11')
# A signature that Outboard offers. With another one, the provider in the arguments stays.
OFFERED = re.compile(r"SHA(256|384|512)with(RSA|ECDSA)")
LIMIT = 600

home, source, work, only, provider, *options = sys.argv[1:]
source, work, programs = Path(source), Path(work), Path(home) / "bin"
jdk, library = source / "jdk", source / "lib"


def tests():
    for directory in DIRECTORIES:
        for file in sorted((jdk / directory).rglob("*.java")):
            text = file.read_text(errors="replace")
            header = re.search(r"/\*\s*\*?\s*@test.*?\*/", text, re.S)
            if header and not OTHERS.search(text) and "static void main" in text:
                yield file, header.group()


def flags(header):
    """--add-exports and --add-opens of a test's @modules."""
    for words in re.findall(r"@modules\s+((?:\S+/\S+\s*\*?\s*)+)", header):
        for word in re.findall(r"[\w.]+/[\w.]+(?::[+\w]+)?", words):
            package, _, kind = word.partition(":")
            if "open" not in kind or "+" in kind:
                yield f"--add-exports={package}=ALL-UNNAMED"
            if kind in ("open", "+open"):
                yield f"--add-opens={package}=ALL-UNNAMED"


def compiled_too(file, header):
    """The files of a test's lines @compile."""
    for words in re.findall(r"@compile\s+(\S+\.java)", header):
        path = (file.parent / words).resolve()
        if path.exists():
            yield str(path)


def runs(file, header):
    """(options, class, arguments) of each @run main."""
    found = re.findall(r"@run\s+(\w+)((?:/\S+)?)\s+(.*?)(?=\s*\*?\s*(?:@|\*/))", header, re.S)
    if not found:
        return [([], file.stem, [])]
    every = []
    for action, _, rest in found:
        words = re.sub(r"\n\s*\*?", " ", rest).split()
        given = []
        while words and words[0].startswith("-"):
            given.append(words.pop(0))
        if action == "main" and words:
            every.append((given, words[0], words[1:]))
    return every


def ours(file):
    """The file, or a copy with our provider's name."""
    text = file.read_text(errors="replace")
    if not provider or not OURS.search(text):
        return file
    copy = work / "source" / file.name
    copy.parent.mkdir()
    copy.write_text(OURS.sub(f'"{provider}"', text))
    return copy


def told(arguments):
    """Arguments, with our provider's name."""
    signatures = [word for word in arguments if re.search("with", word)]
    if not provider or not all(map(OFFERED.fullmatch, signatures)):
        return arguments
    return [provider if word in ("SunEC", "SunRsaSign") else word for word in arguments]


for file, header in tests():
    name = str(file.relative_to(jdk)).removesuffix(".java")
    if only and not re.search(only, name):
        continue
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    added = list(flags(header))
    exports = [flag for flag in added if flag.startswith("--add-exports")]
    places = [str(file.parent), str(library)]
    compiled = subprocess.run(
        [programs / "javac", "-nowarn", "-proc:none", *exports, "-sourcepath", ":".join(places), "-d", str(work), str(ours(file)), *compiled_too(file, header)],
        capture_output=True, text=True)
    if compiled.returncode:
        print(f"# {name} cannot be compiled by a plain javac: {compiled.stderr.splitlines()[:1]}")
        continue
    package = re.search(r"^package\s+([\w.]+);", file.read_text(errors="replace"), re.M)
    for given, main, arguments in runs(file, header):
        if package and "." not in main:
            main = f"{package.group(1)}.{main}"
        command = [programs / "java", *options, *added, *given, f"-Dtest.src={file.parent}", f"-Dtest.classes={work}", "-cp", str(work), main]
        try:
            status = subprocess.run(command + told(arguments), capture_output=True, text=True, cwd=work, timeout=LIMIT)
            why = status.returncode and (status.stderr or status.stdout).strip().splitlines()[:3]
        except subprocess.TimeoutExpired:
            why = f"no end in {LIMIT} seconds"
        print(f"{'not ok' if why else 'ok'} {' '.join([name, *given, *arguments])}")
        if why:
            print(f"# {why}")
        sys.stdout.flush()
