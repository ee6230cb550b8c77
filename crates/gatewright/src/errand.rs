//! A short errand: a program runs for a moment, with this input, and what it says is kept.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use evidence::group::Group;

/// How long we wait between two looks at the process.
const TICK: Duration = Duration::from_millis(5);

/// What is kept of an output.
const MOST_BYTES: u64 = 16 * 1024;

pub struct Errand<'a> {
    pub program: &'a Path,
    pub arguments: &'a [String],
    pub variables: &'a BTreeMap<OsString, OsString>,
    pub folder: &'a Path,
    pub input: &'a [u8],
    pub patience: Duration,
}

/// What it said, when it ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub stdout: String,
    pub stderr: String,
}

impl Errand<'_> {
    /// Runs it to its end; whoever takes too long is ended with all that it started. Input and output
    /// are files: a child that it leaves behind cannot keep us waiting for the end of a pipe.
    pub fn run(&self) -> Result<Said, String> {
        let cannot = |cause: io::Error| format!("it cannot be started ({cause})");
        let mut input = tempfile::tempfile().map_err(cannot)?;
        let written = input.write_all(self.input);
        written
            .and_then(|()| input.seek(SeekFrom::Start(0)))
            .map_err(cannot)?;
        let (mut stdout, mut stderr) = (
            tempfile::tempfile().map_err(cannot)?,
            tempfile::tempfile().map_err(cannot)?,
        );
        let group = Group::start(
            Command::new(self.program)
                .args(self.arguments)
                .current_dir(self.folder)
                .env_clear()
                .envs(self.variables)
                .stdin(input)
                .stdout(stdout.try_clone().map_err(cannot)?)
                .stderr(stderr.try_clone().map_err(cannot)?),
        );
        self.end(group.map_err(cannot)?)
            .map(|()| Said {
                stdout: kept(&mut stdout),
                stderr: kept(&mut stderr),
            })
            .map_err(|why| with_last_words(why, &kept(&mut stderr)))
    }

    fn end(&self, group: Group) -> Result<(), String> {
        let deadline = Instant::now() + self.patience;
        let cannot = |cause: io::Error| format!("it cannot be watched ({cause})");
        let mut is_over = group.has_ended().map_err(cannot)?;
        while !is_over && Instant::now() < deadline {
            thread::sleep(TICK);
            is_over = group.has_ended().map_err(cannot)?;
        }
        let status = group.end().map_err(cannot)?;
        match (is_over, status.code(), status.signal()) {
            (false, ..) => Err(format!(
                "it did not end within {} seconds",
                self.patience.as_secs()
            )),
            (true, Some(0), _) => Ok(()),
            (true, Some(code), _) => Err(format!("it ended with {code}")),
            (true, None, signal) => Err(format!("signal {} ended it", signal.unwrap_or_default())),
        }
    }
}

fn kept(file: &mut File) -> String {
    let mut bytes = Vec::new();
    // What cannot be read was not said.
    let _ = file.seek(SeekFrom::Start(0));
    let _ = file.take(MOST_BYTES).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn with_last_words(why: String, stderr: &str) -> String {
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty());
    match last {
        Some(last) => format!("{why}: {}", views::progress::short(last, 200)),
        None => why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, patience: Duration) -> Result<Said, String> {
        let arguments = ["-c".to_owned(), script.to_owned()];
        let errand = Errand {
            program: Path::new("/bin/sh"),
            arguments: &arguments,
            variables: &BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]),
            folder: Path::new("/"),
            input: b"in",
            patience,
        };
        errand.run()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn it_hears_its_input_and_what_it_says_is_kept() {
        let said = shell("cat; echo err >&2", LONG).unwrap();
        assert_eq!(
            (said.stdout.as_str(), said.stderr.as_str()),
            ("in", "err\n")
        );
    }

    #[test]
    fn whoever_fails_says_why() {
        let why = |script| shell(script, LONG).unwrap_err();
        assert_eq!(why("exit 3"), "it ended with 3");
        assert_eq!(
            why("echo no such host >&2; exit 6"),
            "it ended with 6: no such host"
        );
        assert_eq!(why("kill -9 $$"), "signal 9 ended it");
    }

    #[test]
    fn whoever_takes_too_long_is_ended() {
        let short = Duration::from_millis(50);
        assert_eq!(
            shell("sleep 600", short).unwrap_err(),
            "it did not end within 0 seconds"
        );
    }

    #[test]
    fn a_child_that_is_left_behind_keeps_nobody_waiting() {
        assert_eq!(
            shell("sleep 600 & echo there", LONG).unwrap().stdout,
            "there\n"
        );
    }
}
