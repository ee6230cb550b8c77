//! A project over time: whatever happens to its folder or to the state folder, the next session is
//! guarded, or a person reads that it is not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use testkit::{Project, Ran};

use super::seat::{OPEN, fed};

const PROGRAM: &str = env!("CARGO_BIN_EXE_gatewright");
const LOCAL: &str = ".claude/settings.local.json";
const SESSION: &str = "5d0f3c1e-2a55-4a3e-9c57-8f1f0a6d2b11";

/// A project with hooks, and the folder in which the next session begins.
struct Place {
    project: Project,
    folder: PathBuf,
    hooks: PathBuf,
    /// What the host's environment says instead of what the person's said.
    variables: Vec<(&'static str, Option<PathBuf>)>,
}

/// What the next session meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Met {
    /// It has a run, which judges its agents.
    Guarded,
    /// The same, and the person hears what was lost.
    GuardedAndTold,
    /// It can start no agent, and the person hears why.
    Refused,
    /// It is not guarded, and the person hears that.
    Told,
    /// It has no hooks that could say anything.
    NoHooks,
}

use Met::{Guarded, GuardedAndTold, NoHooks, Refused, Told};

impl Place {
    fn new(project: Project) -> Self {
        let folder = project.path();
        Self {
            hooks: folder.join(LOCAL),
            folder,
            project,
            variables: Vec::new(),
        }
    }

    fn with_git() -> Self {
        let place = Self::new(Project::with_git(PROGRAM));
        place.init(&[]);
        place
    }

    /// Hooks in the person's own settings.
    fn of_user() -> Self {
        let project = Project::with_git(PROGRAM);
        project.run(["init", "--user", "--yes"]).succeeds();
        let hooks = project.home().join(".claude/settings.json");
        let place = Self {
            hooks,
            ..Self::new(project)
        };
        place.init(&[]);
        assert!(!place.folder.join(LOCAL).exists());
        place
    }

    fn init(&self, more: &[&str]) {
        let arguments = ["init", "--yes"].iter().chain(more);
        self.project.run(arguments).succeeds();
    }

    /// The hook at this event, as the settings have it and the host starts it.
    fn command(&self, event: &str) -> Option<Command> {
        let text = fs::read_to_string(&self.hooks).ok()?;
        let settings: Value = serde_json::from_str(&text).expect("JSON");
        let hook = &settings["hooks"][event][0]["hooks"][0];
        let words = hook["args"].as_array().expect("arguments").iter();
        let words: Vec<&str> = words.map(|word| word.as_str().expect("a text")).collect();
        assert_eq!(hook["command"], PROGRAM);
        let mut command = self.project.child(words);
        command
            .current_dir(&self.folder)
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", SESSION)
            .env("CLAUDE_PID", std::process::id().to_string())
            .env("CLAUDE_PROJECT_DIR", &self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for (name, value) in &self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Some(command)
    }

    fn hook(&self, event: &str, mut payload: Value) -> Option<Ran> {
        payload["hook_event_name"] = json!(event);
        payload["session_id"] = json!(SESSION);
        payload["cwd"] = json!(self.folder);
        let command = self.command(event)?;
        Some(fed(command, payload.to_string().as_bytes()).succeeds())
    }

    fn tool(&self, name: &str, input: Value) -> Option<Ran> {
        let payload = json!({"tool_name": name, "tool_use_id": "t1", "tool_input": input});
        self.hook("PreToolUse", payload)
    }

    /// What a session meets that begins now. An ordinary tool is never hindered.
    fn met(&self, what: &str) -> Met {
        let Some(begun) = self.hook("SessionStart", json!({"source": "startup"})) else {
            return NoHooks;
        };
        let told = begun.stdout.contains("systemMessage");
        let input = json!({"subagent_type": "bash-expert", "prompt": "p", "description": "d"});
        let agent = self.tool("Agent", input).expect("the hooks stay");
        let ordinary = self.tool("Bash", json!({"command": "ls"}));
        assert_eq!(ordinary.expect("the hooks stay").stdout, "", "{what}");
        let refused = |rule: &str| agent.stdout.contains(rule);
        match (refused("GW-R11"), refused("GW-R101"), told) {
            (true, false, false) => Guarded,
            (true, false, true) => GuardedAndTold,
            (false, true, true) => Refused,
            (false, false, true) => Told,
            other => panic!("{what}: silent or confused: {other:?}\n{begun}\n{agent}"),
        }
    }

    /// Is any line of the doctor red here?
    fn is_red(&self) -> bool {
        let mut command = self.project.command(["doctor", "--json"]);
        let ran = Ran::from(command.current_dir(&self.folder).output().expect("it ran"));
        let facts: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        facts["worst"] == "red"
    }
}

fn remove(path: impl AsRef<Path>) {
    let path = path.as_ref();
    if path.is_dir() {
        fs::remove_dir_all(path).expect("removed");
    } else {
        fs::remove_file(path).expect("removed");
    }
}

fn empty(folder: PathBuf) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        remove(entry.expect("a file").path());
    }
}

/// Changes every pipeline in the list of projects.
fn relist(place: &Place, change: fn(&mut Value)) {
    for entry in fs::read_dir(place.project.state().join("projects")).expect("the list") {
        let path = entry.expect("a file").path();
        let text = fs::read_to_string(&path).expect("a text");
        let mut listed: Value = serde_json::from_str(&text).expect("JSON");
        let pipelines = listed["pipelines"].as_array_mut().expect("a list");
        pipelines.iter_mut().for_each(change);
        fs::write(path, listed.to_string()).expect("written");
    }
}

/// What happens to an installed project, what the next session meets, and whether the doctor is red.
type Row = (&'static str, fn(&mut Place), Met, bool);

const ROWS: [Row; 18] = [
    ("nothing", |_| {}, Guarded, false),
    (
        "the repository is moved away",
        |it| fs::rename(it.folder.join(".git"), it.folder.join("x")).expect("moved"),
        Guarded,
        false,
    ),
    (
        "the repository is broken",
        |it| remove(it.folder.join(".git/HEAD")),
        Guarded,
        false,
    ),
    (
        "the repository is removed and begun anew",
        |it| {
            remove(it.folder.join(".git"));
            it.project.git(["init", "--quiet"]);
        },
        Guarded,
        false,
    ),
    (
        "the repository is broken, and the session begins in a subfolder",
        |it| {
            remove(it.folder.join(".git/HEAD"));
            it.folder.push("deep/down");
            fs::create_dir_all(&it.folder).expect("made");
        },
        Guarded,
        false,
    ),
    (
        "everything that git does not know is removed",
        |it| drop(it.project.git(["clean", "-fdxq"])),
        NoHooks,
        true,
    ),
    (
        "everything that git does not know or ignore is removed",
        |it| drop(it.project.git(["clean", "-fdq", "-e", ".claude"])),
        Refused,
        true,
    ),
    (
        "the list of projects is emptied",
        |it| empty(it.project.state().join("projects")),
        GuardedAndTold,
        true,
    ),
    (
        "the list of projects says that a command begins runs",
        |it| relist(it, |pipeline| pipeline["begins"] = json!("command")),
        GuardedAndTold,
        true,
    ),
    (
        "the list of projects names no pipeline",
        |it| relist(it, |pipeline| *pipeline = Value::Null),
        Refused,
        true,
    ),
    (
        "the state folder is removed",
        |it| remove(it.project.state()),
        GuardedAndTold,
        true,
    ),
    (
        "the state folder and the definition are removed",
        |it| {
            remove(it.project.state());
            remove(it.folder.join(".gatewright"));
        },
        Refused,
        true,
    ),
    (
        "the host has another state folder",
        |it| {
            let other = it.project.home().join("other");
            it.variables.push(("XDG_STATE_HOME", Some(other)));
        },
        Guarded,
        false,
    ),
    (
        "the host has no home",
        |it| {
            let gone = ["XDG_STATE_HOME", "HOME"].map(|name| (name, None));
            it.variables.extend(gone);
        },
        Guarded,
        false,
    ),
    (
        "the folder is moved",
        |it| {
            let moved = it.folder.with_file_name("moved");
            fs::rename(&it.folder, &moved).expect("moved");
            (it.hooks, it.folder) = (moved.join(LOCAL), moved);
        },
        Told,
        true,
    ),
    (
        "the folder is copied",
        |it| {
            let copy = it.folder.with_file_name("copy");
            let mut copied = Command::new("cp");
            copied.args(["-r".as_ref(), it.folder.as_os_str(), copy.as_os_str()]);
            assert!(copied.status().expect("it ran").success());
            (it.hooks, it.folder) = (copy.join(LOCAL), copy);
        },
        Told,
        true,
    ),
    (
        "the session begins at a link to the folder",
        |it| {
            let link = it.folder.with_file_name("link");
            std::os::unix::fs::symlink(&it.folder, &link).expect("linked");
            it.folder = link;
        },
        Guarded,
        false,
    ),
    ("the session begins in a worktree", worktree, Guarded, false),
];

/// The next session begins in another worktree. The host reads the hooks of the main one there.
fn worktree(place: &mut Place) {
    let tree = place.folder.with_file_name("tree");
    let shown = tree.to_str().expect("a text");
    place
        .project
        .git(["worktree", "add", "--quiet", shown, "--detach"]);
    place.folder = tree;
}

#[test]
fn a_project_keeps_its_guard_or_says_that_it_lost_it() {
    for (what, happens, met, is_red) in ROWS {
        let mut place = Place::with_git();
        happens(&mut place);
        assert_eq!(place.is_red(), is_red, "{what}");
        assert_eq!(place.met(what), met, "{what}");
    }
}

#[test]
fn a_folder_keeps_its_guard_when_it_becomes_a_repository() {
    let mut place = Place::new(Project::new(PROGRAM));
    place.init(&[]);
    place.project.git(["init", "--quiet"]);
    assert_eq!(place.met("git init"), Guarded);
    assert!(!place.is_red());
    let commit = ["commit", "--quiet", "--allow-empty", "--message=begin"];
    place.project.git(commit);
    worktree(&mut place);
    assert_eq!(place.met("a worktree after git init"), Guarded);
}

#[test]
fn a_folder_that_became_a_repository_gives_its_guard_back() {
    let place = Place::new(Project::new(PROGRAM));
    place.init(&[]);
    place.project.git(["init", "--quiet"]);
    place.project.run(["uninit", "--yes"]).succeeds();
    assert_eq!(place.met("uninit"), NoHooks);
    place.init(&[]);
    assert_eq!(place.met("init again"), Guarded);
}

/// Hooks of an earlier version name neither the project nor the state folder.
#[test]
fn hooks_of_an_earlier_version_go_on_and_the_doctor_says_so() {
    for (what, happens, met, is_red) in [
        ("nothing", (|_| {}) as fn(&mut Place), Guarded, false),
        (
            "the repository is moved away",
            |it| fs::rename(it.folder.join(".git"), it.folder.join("x")).expect("moved"),
            Guarded,
            false,
        ),
        (
            "the list of projects is emptied",
            |it| empty(it.project.state().join("projects")),
            Refused,
            true,
        ),
    ] {
        let mut place = Place::with_git();
        let mut settings: Value = serde_json::from_str(&place.project.read(LOCAL)).expect("JSON");
        for groups in settings["hooks"]
            .as_object_mut()
            .expect("hooks")
            .values_mut()
        {
            let words = groups[0]["hooks"][0]["args"].as_array_mut();
            words.expect("arguments").truncate(3);
        }
        place.project.write(LOCAL, settings.to_string());
        let told = place.project.run(["doctor"]).stdout;
        assert!(told.contains("earlier version"), "{what}: {told}");
        let earlier = place.project.read(LOCAL);
        place.init(&[]);
        let told = place.project.run(["doctor"]).stdout;
        assert!(!told.contains("earlier version"), "{what}: {told}");
        place.project.write(LOCAL, earlier);
        happens(&mut place);
        assert_eq!(place.is_red(), is_red, "{what}");
        assert_eq!(place.met(what), met, "{what}");
    }
}

#[test]
fn hooks_of_a_person_say_that_the_state_folder_lost_a_project() {
    for (what, happens, met) in [
        ("nothing", (|_| {}) as fn(&mut Place), Guarded),
        (
            "the list of projects is emptied",
            |it| empty(it.project.state().join("projects")),
            Refused,
        ),
        (
            "the state folder is removed",
            |it| remove(it.project.state()),
            Told,
        ),
    ] {
        let mut place = Place::of_user();
        happens(&mut place);
        assert_eq!(place.is_red(), met != Guarded, "{what}");
        // Elsewhere the same hooks say nothing.
        if met != Told {
            let folder = std::mem::replace(&mut place.folder, place.project.home());
            let begun = place.hook("SessionStart", json!({"source": "startup"}));
            assert_eq!(begun.expect("the hooks stay").stdout, "", "{what}");
            place.folder = folder;
        }
        assert_eq!(place.met(what), met, "{what}");
    }
}

/// The hooks of a plugin name neither the project nor the state folder.
#[test]
fn hooks_of_a_plugin_say_that_the_state_folder_lost_a_project() {
    for (what, happens, told) in [
        ("nothing", (|_| {}) as fn(&Place), false),
        (
            "the state folder is removed",
            |it| remove(it.project.state()),
            true,
        ),
        (
            "the state folder is removed, and there was no pipeline",
            |it| {
                remove(it.project.state());
                remove(it.folder.join(".gatewright"));
            },
            false,
        ),
    ] {
        let place = Place::new(Project::with_git(PROGRAM));
        let enabled = r#"{"enabledPlugins": {"gatewright@team": true}}"#;
        place.project.write(".claude/settings.json", enabled);
        place.init(&[]);
        assert!(
            !place.folder.join(LOCAL).exists(),
            "the plugin has the hooks"
        );
        happens(&place);
        let plugin = |event: &str, mut payload: Value| {
            payload["hook_event_name"] = json!(event);
            payload["session_id"] = json!(SESSION);
            let mut command = place.project.child(["hook", "claude", event]);
            command
                .env("CLAUDECODE", "1")
                .env("CLAUDE_CODE_SESSION_ID", SESSION)
                .env("CLAUDE_PID", std::process::id().to_string())
                .env("CLAUDE_PLUGIN_ROOT", place.project.home())
                .env("CLAUDE_PROJECT_DIR", &place.folder)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            fed(command, payload.to_string().as_bytes()).succeeds()
        };
        let begun = plugin("SessionStart", json!({"source": "startup"}));
        assert_eq!(
            begun.stdout.contains("systemMessage"),
            told,
            "{what}: {begun}"
        );
        let tool =
            json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "ls"}});
        assert_eq!(plugin("PreToolUse", tool).stdout, "", "{what}");
        assert_eq!(place.is_red(), told, "{what}");
    }
}

/// A definition of the project's own needs trust, which goes with the state folder.
#[test]
fn without_the_state_folder_a_definition_is_not_trusted() {
    let place = Place::new(Project::with_git(PROGRAM));
    place.project.write(".gatewright/open.toml", OPEN);
    place.project.trust("open");
    place.init(&["open"]);
    remove(place.project.state());
    assert_eq!(place.met("the state folder is removed"), Refused);
    assert!(place.is_red());
}

/// Where a command starts the runs, its command still does.
#[test]
fn a_command_starts_its_pipeline_without_the_list_of_projects() {
    let text = OPEN.replace("begins = \"session\"", "begins = \"command\"");
    let text = format!("{text}\n[commands]\ngo = \"start\"\n");
    let place = Place::new(Project::with_git(PROGRAM));
    place.project.write(".gatewright/open.toml", text);
    place.project.trust("open");
    place.init(&["open"]);
    empty(place.project.state().join("projects"));
    assert_eq!(place.met("the list of projects is emptied"), Told);
    let typed = json!({
        "expansion_type": "slash_command", "command_name": "go", "command_args": "write it",
        "prompt": "/go write it",
    });
    let begun = place.hook("UserPromptExpansion", typed);
    let begun = begun.expect("the hooks stay").stdout;
    assert!(begun.contains("`working`"), "{begun}");
}

/// An error on the way to the project lets no agent through.
#[test]
fn a_project_that_cannot_be_looked_at_starts_no_agent() {
    let mut place = Place::with_git();
    // Not even root can look through a link to itself.
    let round = place.folder.join("round");
    std::os::unix::fs::symlink(&round, &round).expect("linked");
    place.folder = round;
    let input = json!({"subagent_type": "bash-expert", "prompt": "p", "description": "d"});
    let command = |place: &Place| {
        let mut command = place.command("PreToolUse").expect("the hooks stay");
        command.current_dir(place.project.path());
        command
    };
    let payload = |tool: &str, input: &Value| {
        json!({
            "hook_event_name": "PreToolUse", "session_id": SESSION, "cwd": place.project.path(),
            "tool_name": tool, "tool_use_id": "t1", "tool_input": input,
        })
        .to_string()
    };
    let ran = fed(command(&place), payload("Agent", &input).as_bytes());
    assert!(ran.stdout.contains("GW-R101"), "{ran}");
    let ran = fed(command(&place), payload("Read", &json!({})).as_bytes());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran}");
    let ran = fed(command(&place), b"{ \"session_id\": ");
    assert_eq!(ran.code, Some(2), "{ran}");
}

type Happening = (&'static str, fn(&mut Place));

/// What can happen to a project more than once, and in any order.
const HAPPENINGS: [Happening; 8] = [
    ("the repository is moved away", |it| {
        let _ = fs::rename(it.folder.join(".git"), it.project.home().join("git"));
    }),
    ("the repository is broken", |it| {
        let _ = fs::remove_file(it.folder.join(".git/HEAD"));
    }),
    ("a repository is begun", |it| {
        it.project.git(["init", "--quiet"]);
    }),
    ("the list of projects is emptied", |it| {
        if it.project.state().join("projects").is_dir() {
            empty(it.project.state().join("projects"));
        }
    }),
    ("the list of projects names no pipeline", |it| {
        if it.project.state().join("projects").is_dir() {
            relist(it, |pipeline| *pipeline = Value::Null);
        }
    }),
    ("the state folder is removed", |it| {
        let _ = fs::remove_dir_all(it.project.state());
    }),
    ("the folder is moved", |it| {
        let mut moved = it.folder.clone().into_os_string();
        moved.push("x");
        let moved = PathBuf::from(moved);
        fs::rename(&it.folder, &moved).expect("moved");
        (it.hooks, it.folder) = (moved.join(LOCAL), moved);
    }),
    ("a session begins", |it| {
        it.hook("SessionStart", json!({"source": "startup"}));
    }),
];

/// Any two of them, in any order: the next session is guarded, or a person hears that it is not, and then the
/// doctor is red. `met` fails where it is neither.
#[test]
fn whatever_happens_in_whatever_order_nobody_loses_the_guard_in_silence() {
    for (first, happens_first) in HAPPENINGS {
        for (second, happens_then) in HAPPENINGS {
            let what = format!("{first}, then {second}");
            let mut place = Place::with_git();
            // Git is called in the folder where the project began.
            if first == "the folder is moved" && second == "a repository is begun" {
                continue;
            }
            happens_first(&mut place);
            happens_then(&mut place);
            let is_red = place.is_red();
            let met = place.met(&what);
            let is_lost = matches!(met, Refused | Told | NoHooks);
            assert!(is_red || !is_lost, "{what}: {met:?} and green");
        }
    }
}
