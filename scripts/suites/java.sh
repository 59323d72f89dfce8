# The JDK's own tests of signatures, key agreements and keys, with outboard.jar as Java's first provider. Tests that name SunEC or
# SunRsaSign name Outboard then. java-25.sh reads this file, and sets the JDK and an option that it needs: $jdk, $native.
packages='dpkg-dev openjdk-17-jdk-headless python3'
serves='rsa-2048-sign rsa-2048-verify p256-sign p256-verify p256-derive x25519-derive x25519-keygen ed25519-sign ed25519-verify'
source=$sources/openjdk-17-tests
jdk=${jdk:-$(dirname "$(dirname "$(realpath "$(command -v java)")")")}
jar=$root/target/release/outboard.jar
JAR=$(realpath -m "${JAR:-$jar}")

# Of 800 MB of sources, the tests are needed.
prepare() {
    [ -x "$jdk/bin/javac" ] || { echo "there is no JDK in $jdk"; return 1; }
    [ ! -e "$source" ] || return 0
    debian_source bookworm openjdk-17 "$sources/openjdk-17"
    mkdir -p "$source.part/jdk"
    cp -r "$sources/openjdk-17/test/lib" "$source.part/lib"
    (cd "$sources/openjdk-17/test/jdk" && cp -r --parents java/security javax/crypto sun/security/ec sun/security/rsa \
        com/sun/crypto/provider "$source.part/jdk")
    rm -rf "$sources/openjdk-17"
    mv "$source.part" "$source"
}

suite() {
    local options= provider=
    if [ "$way" != stock ]; then
        [ -e "$JAR" ] || { echo "there is no $JAR (run 'make jar', or name another one with JAR)" >&2; return 1; }
        # All others one place later.
        {
            echo security.provider.1=org.outboard.provider.Outboard
            sed -n 's/^security\.provider\.\([0-9]*\)=\(.*\)/\1 \2/p' "$jdk/conf/security/java.security" |
                while read -r number provider; do echo "security.provider.$((number + 1))=$provider"; done
        } >"$1/java.security"
        provider=Outboard
        options="${native:-} -Xbootclasspath/a:$JAR -Djava.security.properties=$1/java.security -Doutboard.settings=ledger=$1/ledger"
    fi
    python3 "$here/jtreg.py" "$jdk" "$source" "$1/work" "$ONLY" "$provider" $options >"$1/results.tap"
    rm -rf "$1/work"
    [ "$way" = stock ] || evidence "$1/ledger"
}
