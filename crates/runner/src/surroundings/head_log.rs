//! Git's logs of HEADs and refs: what is new in them since a look.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// More of a log is not read.
const LONGEST: u64 = 16 * 1024 * 1024;

/// One line: a ref got this value at this time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogLine {
    pub new: String,
    /// In seconds.
    pub at: u64,
}

/// The length of a log; 0 if there is none.
pub(super) fn length(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

/// The lines after this position. A log that has become shorter is read from its beginning.
pub(super) fn lines_after(path: &Path, position: u64) -> Vec<LogLine> {
    let position = if length(path) < position { 0 } else { position };
    let text = read(path, position).unwrap_or_default();
    text.lines().filter_map(parse).collect()
}

/// The last line; `None` if there is no log, or an empty one.
pub(super) fn last_line(path: &Path) -> Option<LogLine> {
    let start = length(path).saturating_sub(8 * 1024);
    let text = read(path, start)?;
    parse(text.lines().last()?)
}

fn read(path: &Path, position: u64) -> Option<String> {
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(position)).ok()?;
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// `OLD NEW NAME <MAIL> SECONDS ZONE\tMESSAGE`.
fn parse(line: &str) -> Option<LogLine> {
    let head = line.split('\t').next()?;
    let new = head.split(' ').nth(1)?.to_owned();
    let at = head.rsplit(' ').nth(1)?.parse().ok()?;
    Some(LogLine { new, at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_lines_and_the_last_one_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("HEAD");
        assert_eq!(last_line(&path), None);
        assert_eq!(lines_after(&path, 0), []);
        let first = "00 aa A B <a@b> 100 +0100\tcommit (initial): a > b\n";
        std::fs::write(&path, first).unwrap();
        let position = length(&path);
        let second = "aa bb A B <a@b> 200 -0300\tcommit: x\nbb cc A B <a@b> 300 +0000\n";
        std::fs::write(&path, format!("{first}{second}")).unwrap();
        let line = |new: &str, at| LogLine {
            new: new.to_owned(),
            at,
        };
        assert_eq!(
            lines_after(&path, position),
            [line("bb", 200), line("cc", 300)]
        );
        assert_eq!(last_line(&path), Some(line("cc", 300)));
        // Somebody expired it.
        std::fs::write(&path, "bb dd A B <a@b> 400 +0000\n").unwrap();
        assert_eq!(lines_after(&path, position), [line("dd", 400)]);
        std::fs::write(&path, "").unwrap();
        assert_eq!(last_line(&path), None);
    }
}
