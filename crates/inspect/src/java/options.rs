//! The options that a Java virtual machine was started with.

use std::path::PathBuf;

/// Options that concern Outboard. The last one of a name counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// `-Djava.security.properties=FILE`.
    pub(super) properties: Option<Properties>,
    /// `-Djdk.virtualThreadScheduler.parallelism=N`.
    pub(super) parallelism: Option<String>,
    /// A file of arguments (`@FILE`), which is not read here.
    pub(super) argument_file: Option<String>,
    /// `-Xbootclasspath/a:PATH`, each of them.
    boot_path: String,
    /// `-cp PATH` and its like, or the environment's `CLASSPATH`.
    class_path: String,
    /// `-Djava.io.tmpdir=DIRECTORY`.
    pub(super) temporary: Option<PathBuf>,
    /// Whether there is `-Doutboard.library=FILE`.
    pub(super) has_library: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Properties {
    pub(super) file: PathBuf,
    /// Written with `==`: the file stands in the place of `java.security`.
    pub(super) replaces: bool,
}

/// Options of the virtual machine whose value is the next word.
const WITH_A_VALUE: [&str; 14] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--add-reads",
    "--add-exports",
    "--add-opens",
    "--limit-modules",
    "--patch-module",
    "--enable-native-access",
    "--source",
];

/// Those of them that name the class path.
const CLASS_PATH: [&str; 3] = ["-cp", "-classpath", "--class-path"];

impl Options {
    /// In the order in which Java reads them: the environment's `JAVA_TOOL_OPTIONS`, `JDK_JAVA_OPTIONS`, the command line, and
    /// `_JAVA_OPTIONS`.
    pub(super) fn of(
        command_line: &[String],
        environment: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let mut options = Self::default();
        let from = |name: &str| environment(name).unwrap_or_default();
        options.class_path = from("CLASSPATH");
        for word in from("JAVA_TOOL_OPTIONS").split_whitespace() {
            options.read(word);
        }
        for word in from("JDK_JAVA_OPTIONS").split_whitespace() {
            options.read(word);
        }
        let mut words = command_line.iter().skip(1);
        while let Some(word) = words.next() {
            if WITH_A_VALUE.contains(&word.as_str()) {
                let value = words.next();
                if CLASS_PATH.contains(&word.as_str()) {
                    options.class_path = value.cloned().unwrap_or_default();
                }
            } else if word.starts_with('-') && !["-jar", "-m", "--module"].contains(&word.as_str())
            {
                options.read(word);
            } else if let Some(file) = word.strip_prefix('@') {
                options.argument_file = Some(file.to_owned());
            } else {
                // The program's own name and arguments follow.
                break;
            }
        }
        for word in from("_JAVA_OPTIONS").split_whitespace() {
            options.read(word);
        }
        options
    }

    /// `outboard.jar`, if an option names it.
    pub(super) fn jar(&self) -> Option<PathBuf> {
        let paths = [&self.boot_path, &self.class_path];
        let mut files = paths
            .iter()
            .flat_map(|path| path.split(':'))
            .map(PathBuf::from);
        files.find(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("outboard") && name.ends_with(".jar")
        })
    }

    fn read(&mut self, word: &str) {
        if let Some(path) = word.strip_prefix("-Xbootclasspath/a:") {
            self.boot_path = format!("{}:{path}", self.boot_path);
        } else if let Some(path) = word.strip_prefix("--class-path=") {
            self.class_path = path.to_owned();
        }
        let Some((name, value)) = word.strip_prefix("-D").and_then(|it| it.split_once('=')) else {
            return;
        };
        match name {
            "java.security.properties" => {
                let file = value.strip_prefix('=');
                let replaces = file.is_some();
                let file = file.unwrap_or(value);
                // A URL is allowed, too.
                let file = file.strip_prefix("file:").unwrap_or(file);
                self.properties = (!file.is_empty()).then(|| Properties {
                    file: file.into(),
                    replaces,
                });
            }
            "jdk.virtualThreadScheduler.parallelism" => self.parallelism = Some(value.to_owned()),
            "java.io.tmpdir" => self.temporary = Some(value.into()),
            "outboard.library" => self.has_library = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str, environment: &[(&str, &str)]) -> Options {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Options::of(&words, |wanted| {
            let found = environment.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn properties(file: &str, replaces: bool) -> Option<Properties> {
        let file = file.into();
        Some(Properties { file, replaces })
    }

    #[test]
    fn the_last_option_counts() {
        let found = options(
            "java -Djava.security.properties=/a -cp x -Djava.security.properties==/b Main",
            &[],
        );
        assert_eq!(found.properties, properties("/b", true));
        let found = options(
            "java -Djava.security.properties=file:/a -Djdk.virtualThreadScheduler.parallelism=2 Main",
            &[("JDK_JAVA_OPTIONS", "-Djava.security.properties=/b")],
        );
        assert_eq!(found.properties, properties("/a", false));
        assert_eq!(found.parallelism.as_deref(), Some("2"));
        let last = [("_JAVA_OPTIONS", "-Xmx1g -Djava.security.properties=/c")];
        assert_eq!(
            options("java -jar x.jar", &last).properties,
            properties("/c", false)
        );
    }

    #[test]
    fn the_jar_is_found_on_each_path() {
        for line in [
            "java -Xbootclasspath/a:/x/a.jar:/x/outboard.jar -jar app.jar",
            "java -Xbootclasspath/a:/x/outboard.jar -Xbootclasspath/a:/x/b.jar Main",
            "java -cp /a.jar:/x/outboard.jar Main",
            "java --class-path=/x/outboard.jar Main",
        ] {
            let found = options(line, &[]).jar();
            assert_eq!(found, Some("/x/outboard.jar".into()), "{line}");
        }
        let environment = [("CLASSPATH", "/x/outboard.jar")];
        assert!(options("java Main", &environment).jar().is_some());
        assert!(options("java -cp /y Main", &environment).jar().is_none());
        assert!(
            options("java -jar /x/outboard-app.jar", &[])
                .jar()
                .is_none()
        );
        let found = options("java -Djava.io.tmpdir=/t -Doutboard.library=/l Main", &[]);
        assert_eq!(
            (found.temporary, found.has_library),
            (Some("/t".into()), true)
        );
    }

    #[test]
    fn arguments_of_the_program_are_not_options() {
        for line in [
            "java Main -Djava.security.properties=/a",
            "java -jar x.jar -Djava.security.properties=/a",
            "java -m module/Main -Djava.security.properties=/a",
            "java -Djava.security.properties= Main",
            "java",
            "",
        ] {
            assert_eq!(options(line, &[]), Options::default(), "{line}");
        }
        let found = options("java -cp -Djava.security.properties=/a Main", &[]);
        assert_eq!(found.properties, None);
        assert_eq!(found.class_path, "-Djava.security.properties=/a");
        let found = options("java @options Main", &[]);
        assert_eq!(found.argument_file.as_deref(), Some("options"));
    }
}
