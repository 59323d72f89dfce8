//! Chromium without a window, steered through the DevTools protocol on a pair of pipes.
//!
//! <https://chromedevtools.github.io/devtools-protocol/>; messages are JSON objects, each ended by a zero byte.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// A browser with one page. Ends with its value.
pub(crate) struct Browser {
    child: Child,
    pipes: RefCell<Pipes>,
    session: String,
    // Its profile goes when it has ended.
    _profile: tempfile::TempDir,
}

struct Pipes {
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    last: u64,
    /// Whether a page has come in whole since this was last unset.
    loaded: bool,
    /// What the page complained about.
    complaints: Vec<String>,
}

impl Browser {
    /// Starts Chromium; none if it is not installed.
    pub(crate) fn start() -> Option<Self> {
        let chromium = outboard_programs::find("chromium").ok()?;
        let profile = tempfile::tempdir().expect("a temporary directory");
        // Chromium reads commands from descriptor 3 and answers on 4. However it hangs, it has an end.
        let mut child = Command::new("sh")
            .args([
                "-c",
                "exec timeout --kill-after=5 1800 \"$@\" 3<&0 4>&1 </dev/null >/dev/null",
                "sh",
            ])
            .arg(chromium)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let pipes = RefCell::new(Pipes {
            to: child.stdin.take().expect("it was piped"),
            from: BufReader::new(child.stdout.take().expect("it was piped")),
            last: 0,
            loaded: false,
            complaints: Vec::new(),
        });
        let mut browser = Self {
            child,
            pipes,
            session: String::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = browser.call(
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        browser.session = attached["sessionId"]
            .as_str()
            .expect("a session")
            .to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Sends a command and waits for its answer; what happens meanwhile is kept if it is a complaint.
    ///
    /// # Panics
    /// If the browser refuses or ends.
    pub(crate) fn call(&self, method: &str, parameters: Value) -> Value {
        let mut pipes = self.pipes.borrow_mut();
        pipes.last += 1;
        let id = pipes.last;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        pipes.to.write_all(&bytes).expect("the browser runs");
        loop {
            let answer = pipes.receive();
            if answer["id"] == json!(id) {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    /// Shows a page as a medium ("screen", "print") of that width would, in that colour scheme ("light", "dark").
    pub(crate) fn open(&self, page: &Path, medium: &str, width: u32, scheme: &str) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}),
        );
        self.call(
            "Emulation.setEmulatedMedia",
            json!({"media": medium, "features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
        let url = format!("file://{}", page.display());
        self.pipes.borrow_mut().loaded = false;
        self.call("Page.navigate", json!({"url": url}));
        let mut pipes = self.pipes.borrow_mut();
        while !pipes.loaded {
            pipes.receive();
        }
        drop(pipes);
        // The event may have been about:blank's.
        let url = json!(url);
        let is_there =
            format!("document.readyState === 'complete' && location.href === new URL({url}).href");
        while self.evaluate(&is_there) != json!(true) {
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// What an expression is, as JSON.
    pub(crate) fn evaluate(&self, expression: &str) -> Value {
        let result = self.call(
            "Runtime.evaluate",
            json!({"expression": expression, "returnByValue": true}),
        );
        assert!(result["exceptionDetails"].is_null(), "{result}");
        result["result"]["value"].clone()
    }

    /// Errors and warnings of the console, violations of the page's policy, and anything fetched but the
    /// page itself; since the last call.
    pub(crate) fn complaints(&self) -> Vec<String> {
        // What was logged before an answer has arrived with it.
        self.evaluate("0");
        std::mem::take(&mut self.pipes.borrow_mut().complaints)
    }

    /// The page as a PNG picture, in base64; its end is left out where it is longer than Chromium's
    /// pictures can be.
    pub(crate) fn picture(&self) -> String {
        let size = self.call("Page.getLayoutMetrics", json!({}))["cssContentSize"].clone();
        let height = size["height"].as_f64().unwrap_or(0.0).min(16_000.0);
        let clip = json!({"x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1});
        let parameters = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let picture = self.call("Page.captureScreenshot", parameters);
        picture["data"].as_str().expect("a picture").to_owned()
    }
}

impl Pipes {
    fn receive(&mut self) -> Value {
        let mut bytes = Vec::new();
        let read = self.from.read_until(0, &mut bytes);
        assert!(read.is_ok_and(|read| read > 0), "the browser has ended");
        bytes.pop();
        let message: Value = serde_json::from_slice(&bytes).expect("the browser speaks JSON");
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("Page.loadEventFired") => self.loaded = true,
            Some("Log.entryAdded") => self.complaints.push(parameters["entry"].to_string()),
            Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled") => {
                self.complaints.push(parameters.to_string());
            }
            Some("Network.requestWillBeSent") if parameters["type"] != json!("Document") => {
                self.complaints.push(parameters["request"].to_string());
            }
            _ => {}
        }
        message
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // timeout(1) passes the signal on, and ends when Chromium has; it may have ended by itself.
        let _ = Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        let _ = self.child.wait();
    }
}
