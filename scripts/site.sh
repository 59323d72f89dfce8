#!/bin/bash
# Makes the documents into a site with a search: target/site/html, by mdBook.
#
#   scripts/site.sh OUTBOARD-COMMANDS DIRECTORY      OUTBOARD-COMMANDS: a directory with outboard and outboard-bench, for the man pages
set -euo pipefail
commands=$(realpath -e "$1")
mkdir -p "$2"
site=$(realpath -e "$2")
cd "$(dirname "$0")/.."
mdbook_version=0.4.52

if [ "$("$site/tools/bin/mdbook" --version 2>/dev/null)" != "mdbook v$mdbook_version" ]; then
    echo "building mdbook $mdbook_version (some minutes, once)" >&2
    "${CARGO:-cargo}" install --quiet --locked --version $mdbook_version --no-default-features --features search --root "$site/tools" mdbook
fi
rm -rf "$site/src" "$site/html"
mkdir -p "$site/src"
: >"$site/src/man.md"
cp docs/*.md "$site/src/"
cp -r docs/schema "$site/src/"
cp README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE results/report.md results/*.svg "$site/src/"
# All pages are in one directory there. What the site does not have (sources, samples) is no link.
sed -i -E 's#\]\((\.\./)?(docs|results)/#](#g; s#\]\(\.\./#](#g' "$site"/src/*.md
python3 - "$site/src" <<'END'
import pathlib, re, sys
src = pathlib.Path(sys.argv[1])
for page in src.glob("*.md"):
    text = page.read_text()
    def keep(link):
        path = link[2].split("#")[0]
        return link[0] if ":" in path or not path or (src / path).is_file() else link[1]
    page.write_text(re.sub(r"(?<!!)\[([^]\[]*)\]\(([^)\s]+)\)", keep, text))
END
"$commands/outboard" generate "$site/generated"
"$commands/outboard-bench" generate "$site/generated"
{
    echo '# Man pages'
    for page in "$site"/generated/man/*; do
        printf '\n## %s\n\n```text\n' "$(basename "${page%.*}")"
        MANWIDTH=100 LC_ALL=C.UTF-8 man --no-hyphenation --no-justification -l "$page" | col -bx
        printf '```\n'
    done
} >"$site/src/man.md"
cat >"$site/book.toml" <<'END'
[book]
title = "Outboard"
language = "en"
[output.html.fold]
enable = true
[output.html.search]
limit-results = 30
END
"$site/tools/bin/mdbook" build "$site" --dest-dir "$site/html"
# Each page has a place in the site, and each link between pages an end.
python3 - "$site/html" <<'END'
import html.parser, pathlib, sys, urllib.parse
root = pathlib.Path(sys.argv[1])
wrong = []
class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.ids = [], set()
    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.links += [attributes[name] for name in ("href", "src") if attributes.get(name)]
        if "id" in attributes:
            self.ids.add(attributes["id"])
pages = {}
for file in root.glob("*.html"):
    pages[file] = Links()
    pages[file].feed(file.read_text())
for file, page in pages.items():
    if file.name in ("print.html", "404.html", "report.html"):
        continue
    for link in page.links:
        url = urllib.parse.urlsplit(link)
        if url.scheme or url.netloc:
            continue
        target = (file.parent / urllib.parse.unquote(url.path)).resolve() if url.path else file
        if not target.exists() or url.fragment and target in pages and url.fragment not in pages[target].ids:
            wrong.append(f"{file.name}: {link}")
if wrong or not (root / "searchindex.json").exists() and not list(root.glob("searchindex*")):
    sys.exit("\n".join(["links without an end, or no search:", *wrong]))
print(f"the site has {len(pages)} pages: {root}/index.html")
END
