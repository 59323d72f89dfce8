//! Tomcat 10 as Debian packages it, by its own unit and as its own user: with a key store file and the accelerator, and with the
//! key of a token.

use crate::house::{House, block, recipe};

/// Puts a connector of docs/java.md into Tomcat's configuration, as the only one.
fn connect(house: &House, connector: &str) {
    house
        .machine
        .write("/root/connector.xml", connector)
        .expect("it is the machine's");
    house.shell(
        "cd /etc/tomcat10; test -e server.xml.packaged || cp -p server.xml server.xml.packaged\n\
         cp -p server.xml.packaged server.xml\n\
         sed -i '/<Connector port=\"8080\"/,/\\/>/d; /<Service name=\"Catalina\">/r /root/connector.xml' server.xml",
    );
}

/// Asks for a page that no Tomcat has, with a full handshake. `more`: options of curl.
fn fetch(more: &str) -> String {
    format!(
        "curl -sS -o /dev/null -w '%{{http_code}}' --cacert /root/site.pem {more} https://localhost:8443/nothing-is-there"
    )
}

/// Waits until it serves.
fn wait(house: &House) {
    let fetch = fetch("");
    house.shell(&format!(
        "for try in $(seq 300); do {fetch} >/dev/null 2>&1 && exit 0; sleep 0.2; done\n\
         journalctl --no-pager -n 60 -u tomcat10 >&2; {fetch}"
    ));
}

/// Signatures that programs named java counted.
fn signed(house: &House, operation: &str) -> u64 {
    let served = house.served();
    let key = ("java".to_owned(), operation.to_owned());
    served.get(&key).copied().unwrap_or(0)
}

/// The Java process has nothing that doctor complains of.
fn is_well(house: &House) {
    house.shell("outboard doctor --java $(systemctl show -P MainPID tomcat10) >&2");
}

/// A key store in a file, and its certificate for clients.
const STORE: &str = "cd /etc/tomcat10; rm -f /root/new.p12\n\
     keytool -genkeypair -alias site -keyalg RSA -keysize 2048 -dname CN=localhost -ext san=dns:localhost \
         -validity 5 -storetype PKCS12 -storepass changeit -keystore /root/new.p12 2>/dev/null\n\
     keytool -exportcert -rfc -alias site -storepass changeit -keystore /root/new.p12 2>/dev/null >>/root/site.pem\n\
     chgrp tomcat /root/new.p12; chmod 640 /root/new.p12; mv /root/new.p12 site.p12";

/// Fetches without an end, in the background, and says each failure.
fn load(script: &str) -> String {
    let fetch = fetch("");
    format!(
        "rm -f /tmp/stop; (while [ ! -e /tmp/stop ]; do {fetch} >>/tmp/codes || echo failed >>/tmp/codes; echo >>/tmp/codes; done) &\n\
         {script}\n\
         touch /tmp/stop; wait\n\
         ! grep -vx 404 /tmp/codes >&2; wc -l </tmp/codes; rm /tmp/codes"
    )
}

#[test]
fn tomcat_signs_by_the_accelerator() {
    let Some(house) = House::new(&["catalina.sh", "java", "keytool", "curl"]) else {
        return;
    };
    house.shell(STORE);
    connect(&house, &block("java", "With a key store file", "xml"));
    house.shell(&recipe("java", "With a key store file"));
    wait(&house);
    let before = signed(&house, "rsa-2048-sign");
    let fetch_one = fetch("");
    for version in ["--tlsv1.3", "--tls-max 1.2"] {
        assert_eq!(house.shell(&fetch(version)), "404", "{version}");
    }
    house.shell(&format!("for at in $(seq 8); do {fetch_one}; done"));
    assert_eq!(signed(&house, "rsa-2048-sign") - before, 10);
    is_well(&house);

    // A client proves itself, too: its own key is in Java's trust store.
    house.shell(
        "cd /root; openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=visitor -keyout visitor.key -out visitor.pem 2>/dev/null\n\
         keytool -importcert -noprompt -alias visitor -file visitor.pem -storepass changeit -keystore /etc/tomcat10/trust.p12 2>/dev/null\n\
         chmod 644 /etc/tomcat10/trust.p12",
    );
    let asking = block("java", "With a key store file", "xml").replace(
        "<SSLHostConfig>",
        "<SSLHostConfig certificateVerification=\"required\" truststoreFile=\"/etc/tomcat10/trust.p12\" \
         truststorePassword=\"changeit\">",
    );
    connect(&house, &asking);
    house.machine.restart("tomcat10").expect("it starts");
    let proving = "--cert /root/visitor.pem --key /root/visitor.key";
    let patient = fetch(&format!(
        "{proving} --retry 100 --retry-delay 1 --retry-connrefused"
    ));
    assert_eq!(house.shell(&patient), "404");
    assert!(
        house.try_shell(&fetch("")).is_err(),
        "a client without a certificate"
    );
    house.assert_no_crash("tomcat10");

    // A certificate that was renewed.
    connect(&house, &block("java", "With a key store file", "xml"));
    house.shell(STORE);
    house.machine.restart("tomcat10").expect("it starts");
    wait(&house);
    let before = signed(&house, "rsa-2048-sign");
    house.shell(&fetch_one);
    let after = signed(&house, "rsa-2048-sign");
    assert_eq!(after - before, 1, "with the new key, too");

    // As it was.
    house.shell(
        "outboard java --revert; sed -i '/java.security.properties/d' /etc/default/tomcat10",
    );
    house.machine.restart("tomcat10").expect("it starts");
    wait(&house);
    let before = signed(&house, "rsa-2048-sign");
    house.shell(&fetch_one);
    assert_eq!(signed(&house, "rsa-2048-sign"), before);
    house.shell("! outboard doctor --java $(systemctl show -P MainPID tomcat10) >/tmp/said; grep 'does not register' /tmp/said");
}

#[test]
fn tomcat_signs_by_a_token() {
    let Some(house) = House::new(&["catalina.sh", "java", "keytool", "curl"]) else {
        return;
    };
    house.shell("systemctl daemon-reload");
    house.start_service();
    house.shell(
        "cd /root; umask 022; echo officer >officer.pin; echo secret >user.pin\n\
         openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
             -addext subjectAltName=DNS:localhost -keyout site.key -out site.pem 2>/dev/null; cp site.pem site-chain.pem",
    );
    connect(&house, &block("java", "With a token", "xml"));
    // What somebody types, and an editor.
    let typed = recipe("java", "With a token")
        .replace(
            "init web",
            "init web --officer-pin-file officer.pin --pin-file user.pin",
        )
        .replace("import web", "import web --pin-file user.pin")
        .replace("editor", "cp user.pin");
    house.shell(&format!("cd /root\n{typed}"));
    wait(&house);
    house.shell("rm /root/site.key");
    is_well(&house);
    assert_eq!(house.shell(&fetch("--tlsv1.3")), "404");

    // The service restarts while clients connect, and none notices.
    let restart = "for at in 1 2 3; do sleep 1; systemctl restart outboard.service; \
                   outboard service enter </tmp/outboard.master; sleep 1; done";
    let lines = house.shell(&load(restart));
    let count: u32 = lines
        .lines()
        .last()
        .and_then(|line| line.trim().parse().ok())
        .expect("a number");
    assert!(count > 10, "{lines}");
    house.assert_no_crash("tomcat10");

    // The grant is what lets Tomcat sign.
    house.shell("outboard token revoke web --user tomcat");
    assert!(house.try_shell(&fetch("")).is_err());
    house.shell(
        "! outboard doctor --java $(systemctl show -P MainPID tomcat10) >/tmp/said; grep 'tomcat may not use the token' /tmp/said",
    );
}
