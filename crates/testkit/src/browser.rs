//! A real browser without a window: Chromium from Debian, driven over its debugging pipe.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::processes::{self, MARK};
use crate::{PATIENCE, within};

/// One page in a browser of its own. It is ended when this goes.
pub struct Browser {
    process: Child,
    mark: String,
    sent: File,
    received: Receiver<Value>,
    session: String,
    last: u64,
    _folder: TempDir,
}

impl Browser {
    /// Starts a browser with an empty page.
    ///
    /// # Panics
    /// When Chromium is not installed: `cargo xtask test --set-up` installs it.
    pub fn start() -> Self {
        Self::with_names(&[])
    }

    /// The same, in which these names are names of this machine.
    pub fn with_names(names: &[&str]) -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let (to, from) = (folder.path().join("to"), folder.path().join("from"));
        for pipe in [&to, &from] {
            let made = Command::new("mkfifo").arg(pipe).status();
            assert!(made.is_ok_and(|status| status.success()), "no pipe");
        }
        let mark = processes::new_mark();
        let process = spawn(folder.path(), names, &mark);
        let sent = OpenOptions::new().write(true).open(&to);
        let sent = sent.expect("Chromium reads its pipe; `cargo xtask test --set-up` installs it");
        let received = listen(File::open(&from).expect("Chromium writes to its pipe"));
        let mut browser = Self {
            process,
            mark,
            sent,
            received,
            session: String::new(),
            last: 0,
            _folder: folder,
        };
        browser.attach();
        browser
    }

    fn attach(&mut self) {
        let made = self.call("Target.createTarget", json!({ "url": "about:blank" }));
        let target = made["targetId"].clone();
        let attach = json!({ "targetId": target, "flatten": true });
        let attached = self.call("Target.attachToTarget", attach);
        self.session = attached["sessionId"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        self.call("Page.enable", json!({}));
    }

    /// Opens an address, as a person who types it.
    pub fn open(&mut self, address: &str) {
        let opened = self.call("Page.navigate", json!({ "url": address }));
        assert_eq!(opened["errorText"], Value::Null, "{address}");
        self.wait_for("document.readyState === 'complete'");
    }

    /// The value of this expression on the page, awaited.
    pub fn value(&mut self, expression: &str) -> Value {
        let asked =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", asked);
        match answer.get("exceptionDetails") {
            Some(problem) => json!({ "threw": problem["exception"]["description"] }),
            None => answer["result"]["value"].clone(),
        }
    }

    /// Waits until this expression is true on the page.
    ///
    /// # Panics
    /// When it is not in time.
    #[track_caller]
    pub fn wait_for(&mut self, expression: &str) {
        let is_so = || (self.value(expression) == Value::Bool(true)).then_some(());
        if within(PATIENCE, is_so).is_none() {
            let text = "document.title + '\\n' + document.body?.innerText";
            panic!("not so: {expression}\n{}", self.value(text));
        }
    }

    /// Clicks with the mouse on the middle of what this selector finds first.
    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        let place = format!(
            "(() => {{ const it = document.querySelector({selector:?}); it.scrollIntoView({{block: 'center'}}); \
             const at = it.getBoundingClientRect(); return [at.x + at.width / 2, at.y + at.height / 2]; }})()"
        );
        let place = self.value(&place);
        let (Some(x), Some(y)) = (place[0].as_f64(), place[1].as_f64()) else {
            panic!("nothing to click at {selector}: {place}");
        };
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Types this where the focus is.
    pub fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// The whole page as a picture, also what one would have to scroll to: the bytes of a PNG.
    #[track_caller]
    pub fn picture(&mut self) -> Vec<u8> {
        let asked = json!({ "format": "png", "captureBeyondViewport": true });
        let answer = self.call("Page.captureScreenshot", asked);
        let text = answer["data"].as_str().expect("a picture");
        from_base64(text)
    }

    /// Shows pages in a window so wide and high, in this colour scheme: `light` or `dark`.
    pub fn window(&mut self, width: u32, height: u32, scheme: &str) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": [scheme] }),
        );
    }

    /// Sends a command to the browser, and waits for its answer.
    #[track_caller]
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        let bytes = format!("{message}\0");
        let written = self.sent.write_all(bytes.as_bytes());
        written.expect("the browser is there");
        loop {
            let answer = self.received.recv_timeout(PATIENCE);
            let answer = answer.unwrap_or_else(|_| panic!("no answer to {method}"));
            if answer["id"] == self.last {
                let problem = answer.get("error");
                assert!(problem.is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        processes::end(self.process.id(), &self.mark);
        let _ = self.process.wait();
    }
}

/// Decodes base64. The padding at the end is ignored.
fn from_base64(text: &str) -> Vec<u8> {
    let (mut bytes, mut bits, mut held) = (Vec::with_capacity(text.len() / 4 * 3), 0_u32, 0);
    for letter in text.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => break,
        };
        (bits, held) = (bits << 6 | u32::from(value), held + 6);
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    bytes
}

/// The shell gives the pipes their numbers: 3 is read, 4 is written.
fn spawn(folder: &Path, names: &[&str], mark: &str) -> Child {
    let rules: Vec<String> = names
        .iter()
        .map(|name| format!("MAP {name} 127.0.0.1"))
        .collect();
    let mut command = Command::new("sh");
    command
        .args(["-c", "cd \"$0\" && exec chromium \"$@\" 3<to 4>from"])
        .arg(folder)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ])
        .args([
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
        ])
        .arg("--remote-debugging-pipe")
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .arg(format!("--host-resolver-rules={}", rules.join(",")))
        .env("HOME", folder)
        .env(MARK, mark)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().expect("a shell can be started")
}

/// Everything that the browser says, one message each.
fn listen(mut pipe: File) -> Receiver<Value> {
    let (sender, received) = mpsc::channel();
    thread::spawn(move || {
        let (mut bytes, mut chunk) = (Vec::new(), [0; 65_536]);
        while let Ok(count @ 1..) = pipe.read(&mut chunk) {
            bytes.extend_from_slice(&chunk[..count]);
            while let Some(end) = bytes.iter().position(|byte| *byte == 0) {
                let message: Vec<u8> = bytes.drain(..=end).collect();
                let Ok(message) = serde_json::from_slice(&message[..end]) else {
                    continue;
                };
                if sender.send(message).is_err() {
                    return;
                }
            }
        }
    });
    received
}
