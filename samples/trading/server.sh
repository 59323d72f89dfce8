#!/bin/bash
# Compiles the application and becomes a server that serves it on 127.0.0.1. run.sh and outboard-bench start it. The environment says:
#
#   TRADING_DIRECTORY   where the files are made: a directory that exists, of this server's own
#   TRADING_DATABASE    the database, as JDBC names it
#   TRADING_HTTPS       the port of HTTPS
#   TRADING_HTTP        the port of HTTP, for a web server in front
#   TRADING_KEY         where the key of HTTPS is used: file, accelerator, provider or coprocessor
#   TRADING_STORE       the PKCS #12 file with the key (not for coprocessor). Its password is "changeit"
#   TRADING_ALIAS       the name of the key
#   TRADING_MODULE      outboard-pkcs11.so (for accelerator and coprocessor)
#   TRADING_JAR         outboard.jar (for provider)
#   TRADING_SETTINGS    what outboard.jar reads in outboard.settings, if anything
#   TRADING_LIBERTY     the directory of Open Liberty; otherwise the server is Debian's Tomcat 10
set -euo pipefail
sources=$(dirname "$(readlink -f "$0")")
cd "$TRADING_DIRECTORY"
# The address of the database may have a password. It stays among the user's files: every user sees the arguments of a process.
umask 077
driver=/usr/share/java/postgresql.jar
needs() {
    [ -f "$1" ] || { echo "server.sh: there is no $1 ($2)" >&2; exit 1; }
}
needs $driver "install libpostgresql-jdbc-java"

# Java's settings. A file that is named so adds to java.security. 12 providers are there already.
options=(-Xmx512m "-Djava.security.properties=$PWD/security" -Djava.io.tmpdir="$PWD")
slot() {
    needs "$TRADING_MODULE" "'make' builds one and 'make install' installs one; MODULE names another for run.sh"
    cat > pkcs11.cfg <<END
name = Outboard
library = $TRADING_MODULE
slot = $1
enabledMechanisms = { KeyStore CKM_RSA_PKCS CKM_RSA_PKCS_PSS CKM_ECDSA }
END
    echo "security.provider.13=SunPKCS11 $PWD/pkcs11.cfg" > security
}
case $TRADING_KEY in
    file)
        : > security
        type=PKCS12 ;;
    accelerator)
        slot 1
        preferred=
        for algorithm in RSASSA-PSS SHA{256,384,512}withRSA SHA{256,384}withECDSA; do
            preferred+=${preferred:+, }Signature.$algorithm:SunPKCS11-Outboard
        done
        echo "jdk.security.provider.preferred=$preferred" >> security
        type=PKCS12 ;;
    provider)
        needs "$TRADING_JAR" "'make' builds one where a JDK is installed; JAR names another for run.sh"
        options+=("-Xbootclasspath/a:$TRADING_JAR" "-Doutboard.settings=${TRADING_SETTINGS:-}")
        preferred=
        for service in Signature.{RSASSA-PSS,SHA{256,384,512}with{RSA,ECDSA}} KeyAgreement.{XDH,X25519,ECDH} KeyPairGenerator.{XDH,X25519,EC}; do
            preferred+=${preferred:+, }$service:Outboard
        done
        printf '%s\n' security.provider.13=org.outboard.provider.Outboard "jdk.security.provider.preferred=$preferred" > security
        type=PKCS12 ;;
    coprocessor)
        slot 0
        type=PKCS11
        TRADING_STORE= ;;
    *)
        echo "server.sh: TRADING_KEY is file, accelerator, provider or coprocessor, not $TRADING_KEY" >&2
        exit 2 ;;
esac

if [ -n "${TRADING_LIBERTY:-}" ]; then
    home=$TRADING_LIBERTY
    needs "$home/bin/tools/ws-server.jar" "'make liberty' fetches Open Liberty"
    libraries=("$home"/dev/api/spec/io.openliberty.jakarta.{servlet.6.0,annotation.2.1}_*.jar)
else
    home=/usr/share/tomcat10
    needs $home/bin/bootstrap.jar "install tomcat10-common"
    libraries=("$home"/lib/{servlet,annotations}-api.jar)
fi
mkdir -p application/WEB-INF/classes
javac -d application/WEB-INF/classes -cp "$(IFS=:; echo "${libraries[*]}")" "$sources"/src/trading/*.java

if [ -n "${TRADING_LIBERTY:-}" ]; then
    mkdir -p servers/trading
    cp "$sources/liberty.xml" servers/trading/server.xml
    store=$TRADING_STORE is_file=true password=changeit provider=SUN
    if [ $type = PKCS11 ]; then
        store=$PWD/pkcs11.cfg is_file=false password=none provider=SunPKCS11-Outboard
    fi
    cat > servers/trading/bootstrap.properties <<END
trading.http=$TRADING_HTTP
trading.https=$TRADING_HTTPS
trading.store.type=$type
trading.store.file=$store
trading.store.is_file=$is_file
trading.store.password=$password
trading.store.provider=$provider
trading.store.alias=$TRADING_ALIAS
trading.application=$PWD/application
trading.driver=$driver
trading.database=$TRADING_DATABASE
END
    WLP_USER_DIR=$PWD exec java "${options[@]}" "@$home/lib/platform/java/java9.options" "-javaagent:$home/bin/tools/ws-javaagent.jar" \
        -jar "$home/bin/tools/ws-server.jar" trading
fi
mkdir -p conf
cp "$sources/tomcat.xml" conf/server.xml
password=changeit
if [ $type = PKCS11 ]; then
    password=
fi
cat > conf/catalina.properties <<END
common.loader="$home/lib/*.jar","$driver"
trading.http=$TRADING_HTTP
trading.https=$TRADING_HTTPS
trading.store.type=$type
trading.store.file=$TRADING_STORE
trading.store.password=$password
trading.store.alias=$TRADING_ALIAS
trading.application=$PWD/application
trading.database=$TRADING_DATABASE
END
exec java "${options[@]}" -Dcatalina.home="$home" -Dcatalina.base="$PWD" -cp "$home/bin/bootstrap.jar:$home/bin/tomcat-juli.jar" \
    org.apache.catalina.startup.Bootstrap start
