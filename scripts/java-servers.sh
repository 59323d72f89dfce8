#!/bin/sh
# Java servers for 'make test-java', from Maven Central, in target/java-servers: Jetty and Netty (40 MB).
set -eu

cd "$(dirname "$0")/.."
jetty=12.0.16 netty=4.1.118.Final
made=target/java-servers
[ -e "$made/jetty-$jetty" ] && [ -e "$made/netty-$netty" ] && exit 0
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
trap 'exit 1' HUP INT TERM

command -v mvn >/dev/null || scripts/need.sh maven
plugin=org.apache.maven.plugins:maven-dependency-plugin:3.6.1
get() {
    mvn -q -B "$plugin:get" -Dmaven.repo.local="$temporary/repository" -Dartifact="$1" -Dtransitive=false
}
mkdir -p "$made"
get "org.eclipse.jetty:jetty-home:$jetty:zip"
python3 -m zipfile -e "$temporary/repository/org/eclipse/jetty/jetty-home/$jetty/jetty-home-$jetty.zip" "$temporary"
rm -rf "$made"/jetty-* "$made"/netty-*
mv "$temporary/jetty-home-$jetty" "$made/jetty-$jetty"
mkdir "$temporary/netty"
for part in common buffer resolver transport transport-native-unix-common codec handler; do
    get "io.netty:netty-$part:$netty"
    mv "$temporary/repository/io/netty/netty-$part/$netty/netty-$part-$netty.jar" "$temporary/netty"
done
mv "$temporary/netty" "$made/netty-$netty"
