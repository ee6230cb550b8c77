//! Enrolment: small files in the state folder. A hook reads them before it opens anything else, to
//! see whether its session or project belongs to Gatewright.
//!
//! Their JSON is read and written by hand and not with `serde_names`: every hook reads one of them, and its
//! instructions are counted by `cargo xtask bench`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use engine::{Act, Begins, CommandName, Outcome, PipelineName, Process, RunId, SessionId};
use evidence::{Project, small_file};
use hosts::Program;
use serde_json::{Map, Value, json};

use crate::state::{self, State};

const SESSIONS: &str = "sessions";
const PROJECTS: &str = "projects";

/// A session that holds a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enrolled {
    pub session: SessionId,
    pub run: RunId,
    pub process: Option<Process>,
}

/// Is everything that happened in a session in its journal?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordState {
    Whole,
    /// Some event could neither be recorded nor spooled.
    Gap,
}

/// A project with installed pipelines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The project's key, as in `evidence::Project`.
    pub project: String,
    pub pipelines: Vec<InstalledPipeline>,
}

impl Installed {
    /// Does every session of the project have a run?
    pub fn is_always_on(&self) -> bool {
        let mut pipelines = self.pipelines.iter();
        pipelines.any(|pipeline| pipeline.begins == Begins::Session)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledPipeline {
    pub name: PipelineName,
    /// The definition's file in the project; absent for a built-in one.
    pub file: Option<String>,
    pub begins: Begins,
    pub commands: BTreeMap<CommandName, Act>,
}

/// The file of a session. It exists while the session holds a run.
fn session_file(state: &State, session: &SessionId) -> PathBuf {
    state
        .folder()
        .join(SESSIONS)
        .join(name(&format!("{}\n{session}", Program::DEFAULT.word())))
}

fn project_file(state: &State, project: &str) -> PathBuf {
    state.folder().join(PROJECTS).join(name(project))
}

/// A file name that cannot contain path separators.
fn name(of: &str) -> String {
    let mut name = evidence::hash(of.as_bytes()).to_string();
    name.truncate(32);
    name
}

/// The run that this session holds, and whether its record is whole; `None` for a session that is not
/// enrolled. Reads one file; opens no store. If the file cannot be read, or is of another session, the
/// session is enrolled in an unknown run.
pub fn look_up(state: &State, session: &SessionId) -> io::Result<Option<(Enrolled, RecordState)>> {
    let path = session_file(state, session);
    let file = match fs::File::open(&path) {
        Ok(file) => file,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(cause),
    };
    let record = RecordState::of_mode(file.metadata()?.permissions().mode());
    let value = serde_json::from_slice(&small_file::read_from(&file)?);
    let enrolled = value.ok().as_ref().and_then(parse_session);
    let enrolled = enrolled.filter(|enrolled| enrolled.session == *session);
    let enrolled = enrolled.ok_or_else(|| damaged(&path))?;
    Ok(Some((enrolled, record)))
}

/// Does any session hold a run?
pub fn is_anybody_enrolled(state: &State) -> bool {
    let listed = fs::read_dir(state.folder().join(SESSIONS));
    listed.is_ok_and(|mut files| files.next().is_some())
}

/// Is the process of any session alive that holds a run?
pub fn is_anybody_alive(state: &State) -> bool {
    let files = session_files(state).unwrap_or_default();
    let values = files.iter().filter_map(|path| read(path).ok().flatten());
    let processes = values.filter_map(|value| parse_session(&value)?.process);
    let mut states = processes.map(|process| evidence::process::state(&process));
    states.any(|state| state == engine::ProcessState::Alive)
}

/// The content of the session's file. An unreadable file, or one of another session, is an error: the
/// session is enrolled in an unknown run.
pub fn of_session(state: &State, session: &SessionId) -> io::Result<Option<Enrolled>> {
    Ok(look_up(state, session)?.map(|(enrolled, _)| enrolled))
}

/// Writes the session's file. It is durable when this returns.
pub fn enrol(state: &State, enrolled: &Enrolled) -> io::Result<()> {
    let process = enrolled
        .process
        .map(|process| json!({ "id": process.id, "started": process.started }));
    let value = json!({
        "session": enrolled.session.as_str(),
        "run": enrolled.run.as_str(),
        "process": process,
    });
    state::write_durably(&session_file(state, &enrolled.session), &value.to_string())
}

/// The permissions of a session's file say whether its record is complete. They can be changed even
/// when the disk is full.
const WHOLE: u32 = 0o600;
const GAP: u32 = 0o400;

impl RecordState {
    fn of_mode(mode: u32) -> Self {
        match mode & 0o777 {
            GAP => Self::Gap,
            _ => Self::Whole,
        }
    }
}

pub fn set_record_state(state: &State, session: &SessionId, record: RecordState) -> io::Result<()> {
    let mode = match record {
        RecordState::Whole => WHOLE,
        RecordState::Gap => GAP,
    };
    let path = session_file(state, session);
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Removes the sessions of runs that are gone.
pub fn forget(state: &State, is_there: impl Fn(&RunId) -> bool) {
    let listed = fs::read_dir(state.folder().join(SESSIONS));
    let paths = listed.into_iter().flatten().filter_map(Result::ok);
    for path in paths.map(|entry| entry.path()) {
        let enrolled = read(&path).ok().flatten();
        let enrolled = enrolled.as_ref().and_then(parse_session);
        if enrolled.is_some_and(|enrolled| !is_there(&enrolled.run)) {
            // What cannot be removed now is removed the next time.
            let _ = fs::remove_file(path);
        }
    }
}

/// Session and project files that are unreadable: each blocks agents somewhere.
pub fn damaged_files(state: &State) -> Vec<PathBuf> {
    // Each file has the name of what it is about.
    type PathOf = fn(&State, &Value) -> Option<PathBuf>;
    let kinds: [(&str, PathOf); 2] = [
        (SESSIONS, |state, value| {
            Some(session_file(state, &parse_session(value)?.session))
        }),
        (PROJECTS, |state, value| {
            Some(project_file(state, &parse_project(value)?.project))
        }),
    ];
    let files = kinds.into_iter().flat_map(|(folder, place)| {
        let listed = fs::read_dir(state.folder().join(folder));
        let files = listed.into_iter().flatten().filter_map(Result::ok);
        files.map(move |file| (file.path(), place))
    });
    let damaged = files.filter(|(path, place)| match read(path) {
        Ok(Some(value)) => place(state, &value).as_ref() != Some(path),
        Ok(None) => false,
        Err(_) => true,
    });
    damaged.map(|(path, _)| path).collect()
}

pub fn withdraw(state: &State, session: &SessionId) -> io::Result<()> {
    remove(&session_file(state, session))
}

/// The latest enrolled session of this process: a session that starts in the same process after
/// `clear` succeeds it. An unreadable file is an error: it may be that session's.
pub fn of_process(state: &State, process: &Process) -> io::Result<Option<Enrolled>> {
    let mut latest: Option<(SystemTime, Enrolled)> = None;
    for path in session_files(state)? {
        let Some(value) = read(&path)? else { continue };
        let enrolled = parse_session(&value).ok_or_else(|| damaged(&path))?;
        let written = match fs::metadata(&path).and_then(|file| file.modified()) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => continue,
            written => written?,
        };
        let is_later = latest.as_ref().is_none_or(|(before, _)| *before <= written);
        if enrolled.process.as_ref() == Some(process) && is_later {
            latest = Some((written, enrolled));
        }
    }
    Ok(latest.map(|(_, enrolled)| enrolled))
}

fn session_files(state: &State) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(state.folder().join(SESSIONS)) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        listed => listed?.map(|entry| Ok(entry?.path())).collect(),
    }
}

/// What is installed in this project, under any key that it may have had.
pub fn of(state: &State, project: &Project) -> io::Result<Option<Installed>> {
    for key in project.keys() {
        if let Some(installed) = of_project(state, &key)? {
            return Ok(Some(installed));
        }
    }
    Ok(None)
}

/// What is installed under this key of a project.
pub fn of_project(state: &State, project: &str) -> io::Result<Option<Installed>> {
    let path = project_file(state, project);
    match read(&path)? {
        None => Ok(None),
        Some(value) => parse_project(&value)
            .filter(|installed| installed.project == project)
            .map(Some)
            .ok_or_else(|| damaged(&path)),
    }
}

pub fn install(state: &State, installed: &Installed) -> io::Result<()> {
    let pipelines: Vec<Value> = installed.pipelines.iter().map(pipeline_json).collect();
    let value = json!({ "project": installed.project, "pipelines": pipelines });
    let path = project_file(state, &installed.project);
    state::write_durably(&path, &value.to_string())
}

pub fn uninstall(state: &State, project: &str) -> io::Result<()> {
    remove(&project_file(state, project))
}

fn read(path: &Path) -> io::Result<Option<Value>> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|_| damaged(path)),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(cause),
    }
}

fn damaged(path: &Path) -> io::Error {
    let message = format!("{} is damaged: remove it and start again", path.display());
    io::Error::new(ErrorKind::InvalidData, message)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(cause),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn parse_session(value: &Value) -> Option<Enrolled> {
    let process = value.get("process").filter(|process| !process.is_null());
    let process = process.and_then(|process| {
        Some(Process {
            id: u32::try_from(process.get("id")?.as_u64()?).ok()?,
            started: process.get("started")?.as_u64()?,
        })
    });
    Some(Enrolled {
        session: SessionId::parse(value.get("session")?.as_str()?).ok()?,
        run: RunId::parse(value.get("run")?.as_str()?).ok()?,
        process,
    })
}

fn pipeline_json(pipeline: &InstalledPipeline) -> Value {
    let commands: Map<String, Value> = pipeline
        .commands
        .iter()
        .map(|(name, act)| (name.to_string(), act_word(act).into()))
        .collect();
    let begins = match pipeline.begins {
        Begins::Session => "session",
        Begins::Command => "command",
    };
    json!({
        "name": pipeline.name.as_str(),
        "file": pipeline.file,
        "begins": begins,
        "commands": commands,
    })
}

fn parse_project(value: &Value) -> Option<Installed> {
    let pipelines = value.get("pipelines")?.as_array()?.iter();
    Some(Installed {
        project: value.get("project")?.as_str()?.to_owned(),
        pipelines: pipelines.map(parse_pipeline).collect::<Option<_>>()?,
    })
}

fn parse_pipeline(value: &Value) -> Option<InstalledPipeline> {
    let commands = value.get("commands")?.as_object()?.iter();
    let commands = commands.map(|(name, act)| {
        let name = CommandName::parse(name).ok()?;
        Some((name, parse_act(act.as_str()?)?))
    });
    Some(InstalledPipeline {
        name: PipelineName::parse(value.get("name")?.as_str()?).ok()?,
        file: value.get("file").and_then(Value::as_str).map(str::to_owned),
        begins: match value.get("begins")?.as_str()? {
            "session" => Begins::Session,
            "command" => Begins::Command,
            _ => return None,
        },
        commands: commands.collect::<Option<_>>()?,
    })
}

fn act_word(act: &Act) -> String {
    match act {
        Act::Start => "start".to_owned(),
        Act::Answer(None) => "answer".to_owned(),
        Act::Answer(Some(choice)) => format!("answer {choice}"),
        Act::Finish => "finish".to_owned(),
        Act::Retry => "retry".to_owned(),
        Act::Cancel => "cancel".to_owned(),
        Act::Reset => "reset".to_owned(),
    }
}

fn parse_act(word: &str) -> Option<Act> {
    match word.split_once(' ') {
        Some(("answer", choice)) => Some(Act::Answer(Some(Outcome::parse(choice).ok()?))),
        Some(_) => None,
        None => match word {
            "start" => Some(Act::Start),
            "answer" => Some(Act::Answer(None)),
            "finish" => Some(Act::Finish),
            "retry" => Some(Act::Retry),
            "cancel" => Some(Act::Cancel),
            "reset" => Some(Act::Reset),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> (tempfile::TempDir, State) {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().join("state"));
        (folder, state)
    }

    fn enrolled(session: &str, id: u32) -> Enrolled {
        Enrolled {
            session: SessionId::parse(session).unwrap(),
            run: RunId::parse("r-1").unwrap(),
            process: Some(Process { id, started: 7 }),
        }
    }

    #[test]
    fn a_session_is_enrolled_until_it_is_withdrawn() {
        let (_folder, state) = state();
        let (one, other) = (enrolled("one", 1), SessionId::parse("other").unwrap());
        let is_enrolled = |session| look_up(&state, session).unwrap().is_some();
        assert!(!is_enrolled(&one.session));
        enrol(&state, &one).unwrap();
        assert!(is_enrolled(&one.session));
        assert!(!is_enrolled(&other));
        assert_eq!(of_session(&state, &one.session).unwrap(), Some(one.clone()));
        withdraw(&state, &one.session).unwrap();
        withdraw(&state, &one.session).unwrap();
        assert_eq!(of_session(&state, &one.session).unwrap(), None);
    }

    #[test]
    fn a_gap_is_remembered_until_it_is_closed() {
        let (_folder, state) = state();
        let one = enrolled("one", 1);
        enrol(&state, &one).unwrap();
        let found = || look_up(&state, &one.session).unwrap();
        assert_eq!(found(), Some((one.clone(), RecordState::Whole)));
        for record in [RecordState::Gap, RecordState::Whole] {
            set_record_state(&state, &one.session, record).unwrap();
            assert_eq!(found(), Some((one.clone(), record)));
        }
    }

    #[test]
    fn sessions_go_with_their_runs() {
        let (_folder, state) = state();
        enrol(&state, &enrolled("one", 1)).unwrap();
        let one = enrolled("one", 1).session;
        forget(&state, |run| run.as_str() == "r-1");
        assert!(of_session(&state, &one).unwrap().is_some());
        forget(&state, |_| false);
        assert!(of_session(&state, &one).unwrap().is_none());
    }

    #[test]
    fn a_damaged_file_is_no_answer() {
        let (_folder, state) = state();
        let one = enrolled("one", 1);
        enrol(&state, &one).unwrap();
        for text in [
            "",
            "{",
            "{}",
            "[]",
            "{\"session\":\"one\",\"run\":\"../x\"}",
            "{\"session\":\"two\",\"run\":\"r-1\"}",
        ] {
            fs::write(session_file(&state, &one.session), text).unwrap();
            assert!(of_session(&state, &one.session).is_err(), "{text}");
            assert_eq!(damaged_files(&state).len(), 1, "{text}");
        }
        enrol(&state, &one).unwrap();
        assert!(damaged_files(&state).is_empty());
    }

    #[test]
    fn an_heir_is_found_by_its_process() {
        let (_folder, state) = state();
        enrol(&state, &enrolled("one", 1)).unwrap();
        enrol(&state, &enrolled("two", 2)).unwrap();
        let of = |id, started| of_process(&state, &Process { id, started });
        assert_eq!(of(2, 7).unwrap(), Some(enrolled("two", 2)));
        assert_eq!(of(2, 8).unwrap(), None);
        assert_eq!(of(3, 7).unwrap(), None);
        // The file that cannot be read may be the one that is looked for.
        let path = session_file(&state, &enrolled("two", 2).session);
        fs::write(&path, "{").unwrap();
        assert!(of(2, 7).is_err());
    }

    #[test]
    fn what_is_installed_is_read_back() {
        let (_folder, state) = state();
        let acts = [
            Act::Start,
            Act::Answer(None),
            Act::Answer(Outcome::parse("stop").ok()),
            Act::Finish,
            Act::Retry,
            Act::Cancel,
            Act::Reset,
        ];
        let commands = acts.into_iter().enumerate();
        let commands =
            commands.map(|(n, act)| (CommandName::parse(&format!("c{n}")).unwrap(), act));
        let installed = Installed {
            project: "/a project".to_owned(),
            pipelines: vec![InstalledPipeline {
                name: PipelineName::parse("mine").unwrap(),
                file: Some(".gatewright/mine.toml".to_owned()),
                begins: Begins::Session,
                commands: commands.collect(),
            }],
        };
        assert_eq!(of_project(&state, "/a project").unwrap(), None);
        install(&state, &installed).unwrap();
        assert_eq!(of_project(&state, "/a project").unwrap(), Some(installed));
        assert_eq!(of_project(&state, "/another").unwrap(), None);
        uninstall(&state, "/a project").unwrap();
        assert_eq!(of_project(&state, "/a project").unwrap(), None);
    }
}
