# The same tests with a JDK 25: JDK_25 names its directory. What it does otherwise than a JDK 17, stock does, too.
jdk=${JDK_25:-$(ls -d /usr/lib/jvm/*-25-* | head -n 1)}
native=--enable-native-access=ALL-UNNAMED
. "$here/java.sh"
