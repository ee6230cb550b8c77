//! The output of a worker's program, kept line by line in the state folder: redacted, bounded, and only for people.
//!
//! It decides nothing. What cannot be written is lost, and the work goes on.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::clock;
use crate::state::State;
use engine::{AgentName, DispatchId, RunId, Time};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A file of this size becomes the earlier half, and the earlier one is dropped.
const HALF: u64 = 4 * 1024 * 1024;

/// A longer line is cut, after it was redacted.
const LONGEST_LINE: usize = 64 * 1024;

/// A line that is longer than this is not even redacted.
const LONGEST_READ: usize = 1024 * 1024;

/// After so many bytes only the last lines are kept.
const FLOOD: u64 = 32 * 1024 * 1024;

/// How much of them.
const KEPT_OF_FLOOD: usize = 256 * 1024;

/// How much of its end shows what a worker did last: more than the longest line.
const TAIL: u64 = 2 * LONGEST_LINE as u64;

const FOLDER: &str = "logs";

/// Whose output it is. The first line of each file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogHead {
    #[serde(with = "crate::serde_names")]
    pub run: RunId,
    #[serde(with = "crate::serde_names")]
    pub dispatch: DispatchId,
    #[serde(with = "crate::serde_names")]
    pub agent: AgentName,
    pub runner: String,
    /// Where the program was started.
    pub folder: String,
}

/// Where a line was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogStream {
    Stdout,
    Stderr,
}

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerLogLine {
    pub at: Time,
    pub stream: LogStream,
    pub text: String,
}

/// Writes the log of one worker.
pub struct WorkerLog {
    path: PathBuf,
    head: LogHead,
    /// Absent after a failure.
    file: Option<File>,
    size: u64,
    secrets: Vec<String>,
    /// The beginning of a line on stderr.
    error: Vec<u8>,
    /// How many bytes came so far.
    came: u64,
    /// The latest lines of a flood, which are written at its end.
    latest: VecDeque<(LogStream, Vec<u8>)>,
    latest_bytes: usize,
}

impl WorkerLog {
    /// Goes on with the log of this work, or begins it.
    pub fn open(state: &State, head: LogHead, secrets: &[String]) -> Self {
        let path = path(state, &head.run, head.dispatch);
        let mut log = Self {
            path,
            head,
            file: None,
            size: 0,
            secrets: secrets.to_vec(),
            error: Vec::new(),
            came: 0,
            latest: VecDeque::new(),
            latest_bytes: 0,
        };
        log.reopen();
        log
    }

    fn reopen(&mut self) {
        let folder = self.path.parent().map(Path::to_owned).unwrap_or_default();
        let _ = fs::create_dir_all(&folder);
        let mut options = OpenOptions::new();
        let opened = options
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.path);
        self.file = opened.ok();
        let length = self.file.as_ref().and_then(|file| file.metadata().ok());
        self.size = length.map_or(0, |it| it.len());
        if self.size == 0 {
            self.write(&format!("{}\n", json!(self.head)));
        }
    }

    /// A whole line of stdout.
    pub fn line(&mut self, line: &[u8]) {
        self.add(LogStream::Stdout, line);
    }

    /// A piece of stderr.
    pub fn error(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.error.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.error.len() > LONGEST_READ {
                let line = std::mem::take(&mut self.error);
                self.add(LogStream::Stderr, line.trim_ascii_end());
            }
        }
    }

    /// Nothing more comes.
    pub fn end(&mut self) {
        let line = std::mem::take(&mut self.error);
        if !line.is_empty() {
            self.add(LogStream::Stderr, &line);
        }
        if !self.latest.is_empty() {
            let note = format!("(of {} bytes the middle was not kept)", self.came);
            self.put(LogStream::Stderr, note.as_bytes());
        }
        for (stream, line) in std::mem::take(&mut self.latest) {
            self.put(stream, &line);
        }
    }

    fn add(&mut self, stream: LogStream, line: &[u8]) {
        self.came = self.came.saturating_add(line.len() as u64 + 1);
        if self.came > FLOOD {
            self.set_aside(stream, line);
        } else {
            self.put(stream, line);
        }
    }

    /// Of a flood only the end is kept: to redact all of it would hold up its worker.
    fn set_aside(&mut self, stream: LogStream, line: &[u8]) {
        let line = &line[..line.len().min(LONGEST_LINE)];
        self.latest_bytes += line.len();
        self.latest.push_back((stream, line.to_vec()));
        while self.latest_bytes > KEPT_OF_FLOOD
            && let Some((_, first)) = self.latest.pop_front()
        {
            self.latest_bytes -= first.len();
        }
    }

    fn put(&mut self, stream: LogStream, line: &[u8]) {
        let text = if line.len() > LONGEST_READ {
            format!("(a line of {} bytes was left out)", line.len())
        } else {
            let text = String::from_utf8_lossy(line);
            let mut text = evidence::redact_document(text.trim_end(), &self.secrets);
            if text.len() > LONGEST_LINE {
                text.truncate(text.floor_char_boundary(LONGEST_LINE));
                text.push_str(" … (cut here)");
            }
            text.replace(['\n', '\r'], " ")
        };
        let word = match stream {
            LogStream::Stdout => "o",
            LogStream::Stderr => "e",
        };
        self.write(&format!("{} {word} {text}\n", clock::now().0));
        if self.size > HALF {
            let _ = fs::rename(&self.path, earlier(&self.path));
            self.reopen();
        }
    }

    fn write(&mut self, text: &str) {
        let written = self
            .file
            .as_mut()
            .map(|file| file.write_all(text.as_bytes()));
        match written {
            Some(Ok(())) => self.size += text.len() as u64,
            // A full disk must not end the work.
            Some(Err(_)) | None => self.file = None,
        }
    }
}

/// Reads the log of one worker, from its beginning on.
pub struct LogReader {
    pub head: LogHead,
    path: PathBuf,
    /// How far the present file was read.
    read: u64,
    /// Was the earlier half read?
    has_begun: bool,
}

impl LogReader {
    /// The logs of a run, in the order of the work.
    pub fn all(state: &State, run: &RunId) -> Vec<Self> {
        let ids = numbers(state, run).into_iter();
        ids.filter_map(|id| Self::open(path(state, run, id)))
            .collect()
    }

    fn open(path: PathBuf) -> Option<Self> {
        let head = read_head(&path)?;
        Some(Self {
            head,
            path,
            read: 0,
            has_begun: false,
        })
    }

    /// The whole lines that came since the last call.
    pub fn lines(&mut self) -> Vec<WorkerLogLine> {
        let mut lines = Vec::new();
        if !self.has_begun {
            self.has_begun = true;
            let text = read_from(&earlier(&self.path), 0).unwrap_or_default();
            lines.extend(text.lines().filter_map(parse));
        }
        let length = fs::metadata(&self.path).map_or(0, |it| it.len());
        if length < self.read {
            // The file that we read has become the earlier half: its rest comes first.
            let rest = read_from(&earlier(&self.path), self.read).unwrap_or_default();
            lines.extend(rest.lines().filter_map(parse));
            self.read = 0;
        }
        let text = read_from(&self.path, self.read).unwrap_or_default();
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        self.read += whole as u64;
        lines.extend(text[..whole].lines().filter_map(parse));
        lines
    }
}

/// The end of a worker's log: whose it is, and its latest lines.
pub struct LogTail {
    pub head: LogHead,
    pub lines: Vec<WorkerLogLine>,
}

/// The latest lines of this work. Reads little, however long the log is.
pub fn tail(state: &State, run: &RunId, dispatch: DispatchId) -> Option<LogTail> {
    let path = path(state, run, dispatch);
    let head = read_head(&path)?;
    let length = fs::metadata(&path).ok()?.len();
    let text = read_from(&path, length.saturating_sub(TAIL))?;
    // The first line may have lost its beginning; then it does not parse, like the head.
    let lines = text.lines().filter_map(parse).collect();
    Some(LogTail { head, lines })
}

/// Longer than the longest head: paths are bounded by the system.
const HEAD: u64 = 16 * 1024;

fn read_head(path: &Path) -> Option<LogHead> {
    let mut bytes = Vec::new();
    File::open(path)
        .ok()?
        .take(HEAD)
        .read_to_end(&mut bytes)
        .ok()?;
    let text = String::from_utf8_lossy(&bytes);
    serde_json::from_str(text.lines().next()?).ok()
}

fn parse(line: &str) -> Option<WorkerLogLine> {
    let mut parts = line.splitn(3, ' ');
    let at = Time(parts.next()?.parse().ok()?);
    let stream = match parts.next()? {
        "o" => LogStream::Stdout,
        "e" => LogStream::Stderr,
        _ => return None,
    };
    Some(WorkerLogLine {
        at,
        stream,
        text: parts.next().unwrap_or_default().to_owned(),
    })
}

/// The text of a file from there on; nothing where there is none.
fn read_from(path: &Path, from: u64) -> Option<String> {
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(4 * HALF).read_to_end(&mut bytes).ok()?;
    // A line that is being written may end inside a character; it is read again.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n');
    bytes.truncate(whole.map_or(0, |end| end + 1));
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The work of a run that has a log here, in order.
pub(crate) fn numbers(state: &State, run: &RunId) -> Vec<DispatchId> {
    let folder = state.folder().join(FOLDER);
    let listed = fs::read_dir(folder).into_iter().flatten();
    let names = listed.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let prefix = format!("{run}.d");
    let numbers = names.filter_map(|name| name.strip_prefix(&prefix)?.parse().ok());
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers.into_iter().map(DispatchId).collect()
}

pub(crate) fn path(state: &State, run: &RunId, dispatch: DispatchId) -> PathBuf {
    state
        .folder()
        .join(FOLDER)
        .join(format!("{run}.{dispatch}"))
}

fn earlier(path: &Path) -> PathBuf {
    path.with_added_extension("earlier")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(number: u32) -> LogHead {
        LogHead {
            run: RunId::parse("r-1").unwrap(),
            dispatch: DispatchId(number),
            agent: AgentName::parse("writer").unwrap(),
            runner: "claude".to_owned(),
            folder: "/home/ada/hello".to_owned(),
        }
    }

    fn texts(lines: &[WorkerLogLine]) -> Vec<&str> {
        lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn what_a_program_prints_is_read_again_without_its_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let secrets = ["open-sesame-1234".to_owned()];
        let mut log = WorkerLog::open(&state, head(10), &secrets);
        log.line(b"one");
        log.error(b"two open-sesa");
        log.error(b"me-1234\nthree");
        let mut other = WorkerLog::open(&state, head(2), &[]);
        other.line(b"first");
        let mut all = LogReader::all(&state, &head(1).run);
        let of: Vec<u32> = all.iter().map(|reader| reader.head.dispatch.0).collect();
        assert_eq!(of, [2, 10]);
        let lines = all[1].lines();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1].stream, LogStream::Stderr);
        assert!(!lines[1].text.contains("sesame"), "{lines:?}");
        log.end();
        log = WorkerLog::open(&state, head(10), &secrets);
        log.line(b"four");
        assert_eq!(texts(&all[1].lines()), ["three", "four"]);
        assert!(all[1].lines().is_empty());
    }

    #[test]
    fn of_a_flood_the_beginning_and_the_end_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let mut log = WorkerLog::open(&state, head(1), &[]);
        let long = "x".repeat(LONGEST_LINE - 10);
        let lines = 2 * FLOOD / long.len() as u64;
        for number in 0..lines {
            log.line(format!("{number} {long}").as_bytes());
        }
        log.end();
        let kept = LogReader::all(&state, &head(1).run).remove(0).lines();
        let last = format!("{} ", lines - 1);
        assert!(kept.last().unwrap().text.starts_with(&last));
        assert!(kept.iter().any(|line| line.text.contains("was not kept")));
    }

    #[test]
    fn a_log_has_a_bound_and_keeps_the_latest() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let mut log = WorkerLog::open(&state, head(1), &[]);
        let mut reader = LogReader::all(&state, &head(1).run).remove(0);
        let long = "x".repeat(LONGEST_LINE / 2);
        let mut seen = 0;
        for number in 0..600 {
            log.line(format!("{number} {long}").as_bytes());
            // A reader that follows misses nothing.
            seen += if number % 7 == 0 {
                reader.lines().len()
            } else {
                0
            };
        }
        seen += reader.lines().len();
        assert_eq!(seen, 600);
        let size: u64 = fs::read_dir(folder.path().join(FOLDER))
            .unwrap()
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .sum();
        assert!(size < 2 * HALF + 2 * LONGEST_LINE as u64, "{size}");
        let mut late = LogReader::all(&state, &head(1).run).remove(0);
        let last = late.lines().pop().unwrap();
        assert!(last.text.starts_with("599 "));
        log.line("y".repeat(LONGEST_READ + 1).as_bytes());
        log.line("z".repeat(LONGEST_LINE + 1).as_bytes());
        let lines = late.lines();
        assert!(lines.iter().all(|line| line.text.len() < LONGEST_LINE + 20));
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn stored_bytes_are_read_and_written_as_they_always_were() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let mut log = WorkerLog::open(&state, head(3), &[]);
        log.line(b"one");
        let path = log.path.clone();
        let text = fs::read_to_string(&path).unwrap();
        let stored = r#"{"run":"r-1","dispatch":"d3","agent":"writer","runner":"claude","folder":"/home/ada/hello"}"#;
        assert_eq!(text.lines().next(), Some(stored));
        fs::write(&path, stored.replace('{', "{\"more\":1,")).unwrap();
        assert_eq!(read_head(&path), Some(head(3)));
        for (old, new) in [("d3", "3"), ("r-1", "../x"), ("folder", "place")] {
            fs::write(&path, stored.replace(old, new)).unwrap();
            assert_eq!(read_head(&path), None, "{new}");
        }
    }
}
