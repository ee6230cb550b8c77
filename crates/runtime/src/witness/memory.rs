//! How far each witness was read, in a file beside the store. Without it everything is read again.

mod layout;
mod reading;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use engine::{Process, Time};
use evidence::process::ListedProcess;
use evidence::small_file;

use crate::state;

/// Files by their paths.
pub(super) type Marks = BTreeMap<String, Rc<FileMark>>;

pub(super) struct Memory {
    path: PathBuf,
    /// Its file, where it is as we write it.
    file: Option<OpenFile>,
    /// By the path of the record.
    records: BTreeMap<String, ReadPosition>,
    /// The processes that are known, by number and start time.
    processes: BTreeSet<String>,
    files: KnownFiles,
    /// The processes that were found outside of the session, sorted.
    others: Vec<ListedProcess>,
    changed: Changed,
}

/// The file of the memory.
struct OpenFile {
    file: File,
    /// How many bytes stand in it before the processes, and how many in all.
    before_others: usize,
    length: usize,
}

/// What the file does not have yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Changed {
    Nothing,
    /// Only the numbers of processes, which stand at the end.
    Others,
    All,
}

/// The files that the run relies on, as they were.
#[derive(Debug, Default)]
struct KnownFiles {
    /// All at a glance: where it is still the same, none of them was touched.
    glance: String,
    /// The program that began the run.
    program: Option<String>,
    /// The marks as text. Few looks need them.
    text: String,
    marks: OnceCell<Marks>,
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileMark {
    /// Its size, times and number: a file with the same ones was not touched.
    pub stamp: String,
    /// The hash of what it holds, where it was read.
    pub content: String,
    /// What it is to the run; nothing for what is of no interest.
    pub about: String,
}

impl FileMark {
    /// Is it the same file, or does it hold the same?
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.stamp == other.stamp || (self.content == other.content && !self.content.is_empty())
    }
}

/// How far a record was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadPosition {
    pub offset: u64,
    /// The latest call in it.
    pub through: Time,
    /// Calls without a result: the tool, and when it was called.
    pub open: BTreeMap<String, (String, Time)>,
}

impl Default for ReadPosition {
    fn default() -> Self {
        Self {
            offset: 0,
            through: Time(0),
            open: BTreeMap::new(),
        }
    }
}

pub(super) fn make(folder: &Path) -> io::Result<()> {
    state::make_folder(folder)
}

impl Memory {
    pub(super) fn read(folder: &Path) -> Self {
        let path = folder.join("memory.json");
        let file = OpenOptions::new().read(true).write(true).open(&path).ok();
        let bytes = file.as_ref().map(small_file::read_long_from);
        let bytes = bytes.and_then(Result::ok).unwrap_or_default();
        let length = bytes.len();
        let (mut memory, before_others) = layout::read(path, &bytes);
        memory.file = file
            .zip(before_others)
            .map(|(file, before_others)| OpenFile {
                file,
                before_others,
                length,
            });
        memory
    }

    pub(super) fn record(&self, name: &str) -> Option<&ReadPosition> {
        self.records.get(name)
    }

    pub(super) fn set_record(&mut self, name: String, place: ReadPosition) {
        if self.records.get(&name) != Some(&place) {
            self.records.insert(name, place);
            self.changed = Changed::All;
        }
    }

    /// Was this process not known before?
    pub(super) fn learn(&mut self, process: &Process) -> bool {
        let Process { id, started } = process;
        let is_new = self.processes.insert(format!("{id}-{started}"));
        if is_new {
            self.changed = Changed::All;
        }
        is_new
    }

    pub(super) fn files(&self) -> &Marks {
        let read = || reading::files(&self.files.text);
        self.files.marks.get_or_init(read)
    }

    /// The glance of the last look at the files, and the program that began the run.
    pub(super) fn glance(&self) -> (&str, Option<&str>) {
        (&self.files.glance, self.files.program.as_deref())
    }

    /// Remembers the files as they are now. Returns them as they were.
    pub(super) fn set_files(
        &mut self,
        marks: Marks,
        program: Option<String>,
        glance: String,
    ) -> Marks {
        let mut before = std::mem::take(&mut self.files);
        let known = before.marks.take();
        let known = known.unwrap_or_else(|| reading::files(&before.text));
        if known != marks || before.glance != glance || before.program != program {
            self.changed = Changed::All;
        }
        self.files = KnownFiles {
            glance,
            program,
            text: String::new(),
            marks: OnceCell::from(marks),
        };
        known
    }

    pub(super) fn others(&self) -> &[ListedProcess] {
        &self.others
    }

    pub(super) fn set_others(&mut self, mut others: Vec<ListedProcess>) {
        others.sort_unstable();
        if self.others != others {
            self.others = others;
            if self.changed == Changed::Nothing {
                self.changed = Changed::Others;
            }
        }
    }

    /// Saves what has changed. A failure costs only time: the same is read again.
    pub(super) fn write(&self) {
        let _ = match (self.changed, &self.file) {
            (Changed::Nothing, _) => Ok(()),
            (Changed::Others, Some(open)) => self.write_others(open),
            (Changed::Others, None) | (Changed::All, _) => {
                state::write_quickly(&self.path, &layout::bytes(self))
            }
        };
    }

    /// A process that is killed here leaves those of a longer list, which were outside of the session, too.
    fn write_others(&self, open: &OpenFile) -> io::Result<()> {
        let others = layout::others(&self.others);
        open.file.write_all_at(&others, open.before_others as u64)?;
        let length = open.before_others + others.len();
        if length < open.length {
            open.file.set_len(length as u64)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn known() -> (tempfile::TempDir, Memory) {
        let folder = tempfile::tempdir().unwrap();
        let mut memory = Memory::read(folder.path());
        assert!(memory.records.is_empty());
        let place = ReadPosition {
            offset: 7,
            through: Time(5),
            open: BTreeMap::from([("t1".to_owned(), ("Bash".to_owned(), Time(5)))]),
        };
        memory.set_record("/a".to_owned(), place);
        memory.set_others(vec![listed(22, 9), listed(1, u64::MAX), listed(333, 10)]);
        assert!(memory.learn(&Process { id: 7, started: 8 }));
        let mark = FileMark {
            stamp: "1-2".to_owned(),
            content: "c".to_owned(),
            about: "a \"file\"".to_owned(),
        };
        let marks = Marks::from([("/\u{e9}\n".to_owned(), Rc::new(mark))]);
        let program = Some("/bin/g \u{e9}".to_owned());
        memory.set_files(marks, program, "/a 1\0/b 2\0".to_owned());
        memory.write();
        (folder, memory)
    }

    fn listed(id: u32, entry: u64) -> ListedProcess {
        ListedProcess { id, entry }
    }

    fn assert_same(one: &Memory, other: &Memory) {
        assert_eq!(one.records, other.records);
        assert_eq!(one.processes, other.processes);
        assert_eq!(one.files(), other.files());
        assert_eq!(one.glance(), other.glance());
        assert_eq!(one.others, other.others);
    }

    #[test]
    fn what_was_read_is_remembered() {
        let (folder, memory) = known();
        let mut again = Memory::read(folder.path());
        assert_same(&again, &memory);
        assert!(!again.learn(&Process { id: 7, started: 8 }));
        let before = memory.files().clone();
        let (glance, program) = memory.glance();
        let (glance, program) = (glance.to_owned(), program.map(str::to_owned));
        assert_eq!(again.set_files(before.clone(), program, glance), before);
        assert_eq!(again.changed, Changed::Nothing);
    }

    #[test]
    fn processes_are_remembered_in_place() {
        let (folder, _) = known();
        let path = folder.path().join("memory.json");
        let number = || std::os::unix::fs::MetadataExt::ino(&fs::metadata(&path).unwrap());
        let before = number();
        for others in [
            vec![listed(4, 5), listed(5, 6), listed(6, 7), listed(7, 8)],
            vec![],
        ] {
            let mut memory = Memory::read(folder.path());
            memory.set_others(others.clone());
            memory.write();
            let again = Memory::read(folder.path());
            assert_eq!(again.others, others);
            assert_eq!(again.records.len(), 1);
        }
        assert_eq!(number(), before);
    }

    /// What an earlier version wrote: one object, with the numbers of processes alone.
    #[test]
    fn an_earlier_memory_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"{"records":{"/a":{"offset":7,"through":5,"open":{}}},"files":{"/b":{"stamp":"1","content":"c","about":"d"}},"processes":["7-8"],"others":"1 22 333"}"#;
        fs::write(folder.path().join("memory.json"), text).unwrap();
        let mut memory = Memory::read(folder.path());
        assert_eq!(memory.record("/a").unwrap().offset, 7);
        assert_eq!(memory.files()["/b"].about, "d");
        assert!(!memory.learn(&Process { id: 7, started: 8 }));
        assert_eq!(memory.glance(), ("", None));
        memory.set_others(vec![listed(1, 2)]);
        memory.write();
        let again = Memory::read(folder.path());
        assert_same(&again, &memory);
    }

    #[test]
    fn of_a_file_that_somebody_changed_what_is_still_as_we_write_it_counts() {
        let (folder, memory) = known();
        let path = folder.path().join("memory.json");
        let bytes = fs::read(&path).unwrap();
        for length in 0..bytes.len() {
            fs::write(&path, &bytes[..length]).unwrap();
            let part = Memory::read(folder.path());
            assert!(part.files().len() <= 1 && part.others.len() <= 3);
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let with_another = text.replace(r#"{"/é"#, r#"{"/b":{"stamp":7},"/é"#);
        assert_ne!(with_another, text);
        fs::write(&path, with_another).unwrap();
        assert_eq!(Memory::read(folder.path()).files(), memory.files());
        for text in ["", "{", "[]", r#"{"records":7}"#, r#"{"records":{"/a":7}}"#] {
            fs::write(&path, text).unwrap();
            let records = Memory::read(folder.path()).records;
            assert!(
                records
                    .values()
                    .all(|place| *place == ReadPosition::default())
            );
        }
    }
}
