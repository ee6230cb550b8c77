//! A temporary project with a pipeline and a run, and what is needed to look at it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use engine::{
    AgentName, Artifact, ArtifactName, ArtifactNeed, Beginning, Begins, Budget, Captured,
    CheckWork, Commands, Definition, Driver, Format, Hash, HostName, Mode, Needs, Outcome,
    OutcomeField, Param, ParamName, Pipeline, PipelineName, Removed, Run, RunId, Seconds, Seen,
    Source, Stage, StageName, StopRule, Strictness, Time, View, ViewFormat, Who, Work, Writes,
};
use evidence::check::{CheckEnvironment, Ran};
use evidence::tree::Tree;
use evidence::{Error, GivenArtifact, LookContext, Looked, Project};
use tempfile::TempDir;

pub(crate) const STAGE: &str = "checking";

pub(crate) struct World {
    folder: TempDir,
    pub definition: Definition,
    pub run: Run,
    pub contents: BTreeMap<Hash, Vec<u8>>,
    pub secrets: Vec<String>,
    pub given: BTreeMap<ArtifactName, GivenArtifact>,
    pub reply: Option<String>,
    pub caches: bool,
}

impl World {
    /// An empty folder without git.
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        let definition = definition();
        let run = run(&definition);
        Self {
            folder,
            definition,
            run,
            contents: BTreeMap::new(),
            secrets: Vec::new(),
            given: BTreeMap::new(),
            reply: None,
            caches: false,
        }
    }

    /// A repository with one commit of `tracked.txt`.
    pub(crate) fn with_git() -> Self {
        let world = Self::new();
        git(&world.root(), ["init", "-q"]);
        world.write("tracked.txt", "tracked\n");
        world.commit();
        world
    }

    pub(crate) fn commit(&self) {
        git(&self.root(), ["add", "-A"]);
        git(
            &self.root(),
            ["commit", "-q", "--allow-empty", "-m", "a commit"],
        );
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.outside().join("project")
    }

    /// The folder around the project.
    pub(crate) fn outside(&self) -> PathBuf {
        std::fs::canonicalize(self.folder.path()).unwrap()
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn write_script(&self, path: &str, content: &str) {
        testkit::make_executable(&self.write(path, content));
    }

    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        let path = self.root().join(path);
        if std::fs::symlink_metadata(&path).unwrap().is_dir() {
            std::fs::remove_dir_all(path).unwrap()
        } else {
            std::fs::remove_file(path).unwrap()
        }
    }

    /// Does what a line says, so that tests can be tables: `write a/b text; link c ../d; git add -A`.
    /// `OUT` stands for the folder around the project.
    pub(crate) fn act(&self, script: &str) {
        let script = script.replace("OUT", self.outside().to_str().unwrap());
        for line in script.split("; ").filter(|line| !line.is_empty()) {
            let words: Vec<&str> = line.splitn(3, ' ').collect();
            match words[..] {
                ["write", path] => drop(self.write(path, "")),
                ["write", path, text] => drop(self.write(path, text.replace("\\n", "\n"))),
                ["folder", path] => std::fs::create_dir_all(self.root().join(path)).unwrap(),
                ["remove", path] => self.remove(path),
                ["rename", from, to] => {
                    std::fs::rename(self.root().join(from), self.root().join(to)).unwrap();
                }
                ["link", path, target] => self.link(path, target),
                ["executable", path] => testkit::make_executable(&self.root().join(path)),
                ["pipe", path] => make_pipe(&self.root().join(path)),
                ["git", ..] => git(&self.root(), line.split(' ').skip(1)),
                _ => panic!("nothing is called {line:?}"),
            }
        }
    }

    /// Declares a file artifact and returns it for changes.
    pub(crate) fn declare(&mut self, name: &str, path: &str, format: Format) -> &mut Artifact {
        let artifact = Artifact {
            source: Source::File(String::from(path)),
            format,
            require: Vec::new(),
            equals: Default::default(),
            outcome: None,
            approved: None,
            strictness: Strictness::Strict,
            max_bytes: 256 * 1024,
        };
        self.definition
            .artifacts
            .entry(artifact_name(name))
            .or_insert(artifact)
    }

    pub(crate) fn declare_param(&mut self, name: &str, value: Option<&str>) {
        let name = ParamName::parse(name).unwrap();
        self.definition
            .params
            .insert(name.clone(), Param::default());
        if let Some(value) = value {
            self.run.params.insert(name, String::from(value));
        }
    }

    pub(crate) fn declare_view(&mut self, path: &str) {
        let view = View {
            format: ViewFormat::Summary,
            path: String::from(path),
            removed: Removed::Rendered,
            readers: engine::Readers::Owner,
        };
        self.definition.views.push(view);
    }

    /// Captures this content for an artifact, as a run does when work ends.
    pub(crate) fn capture(&mut self, name: &str, content: &str) -> Hash {
        let content = self.keep(content.as_bytes());
        self.run.artifacts.insert(
            artifact_name(name),
            Captured {
                content,
                dispatch: None,
                commands: Vec::new(),
            },
        );
        content
    }

    pub(crate) fn approve(&mut self, name: &str, content: Hash) {
        self.run.approved.insert(artifact_name(name), content);
    }

    pub(crate) fn keep(&mut self, bytes: &[u8]) -> Hash {
        let hash = evidence::hash(bytes);
        self.contents.insert(hash, bytes.to_vec());
        hash
    }

    /// Makes the one stage a check with these commands.
    pub(crate) fn checks(&mut self, commands: &[&[&str]]) {
        let words = |line: &&[&str]| line.iter().copied().map(String::from).collect();
        self.set_check(Commands::Fixed(commands.iter().map(words).collect()));
    }

    pub(crate) fn set_check(&mut self, commands: Commands) {
        self.definition.stages[0].work = Work::Check(CheckWork {
            commands,
            fails_on: None,
            expects: None,
            home: engine::HomeFolder::Own,
        });
    }

    pub(crate) fn fails_on(&mut self, text: &str) {
        if let Work::Check(work) = &mut self.definition.stages[0].work {
            work.fails_on = Some(engine::CheckText::Text(String::from(text)));
        }
    }

    pub(crate) fn fails_on_field(&mut self, artifact: &str, field: &str) {
        if let Work::Check(work) = &mut self.definition.stages[0].work {
            work.fails_on = Some(engine::CheckText::From(vec![engine::FieldOf {
                artifact: artifact_name(artifact),
                field: String::from(field),
            }]));
        }
    }

    pub(crate) fn expects_field(&mut self, artifact: &str, field: &str) {
        if let Work::Check(work) = &mut self.definition.stages[0].work {
            work.expects = Some(engine::CheckText::From(vec![engine::FieldOf {
                artifact: artifact_name(artifact),
                field: String::from(field),
            }]));
        }
    }

    pub(crate) fn time_limit(&mut self, seconds: u64) {
        self.definition.stages[0].timeout = Some(Seconds(seconds));
    }

    pub(crate) fn look(&self, needs: &Needs) -> Result<Looked, Error> {
        self.looking(&self.root(), |looking| evidence::look(needs, looking))
    }

    /// What is seen of one artifact.
    pub(crate) fn see(&self, name: &str) -> Result<Seen, Error> {
        self.see_from(&self.root(), name)
    }

    pub(crate) fn see_from(&self, from: &Path, name: &str) -> Result<Seen, Error> {
        let needs = needs_artifact(name);
        let mut looked = self.looking(from, |looking| evidence::look(&needs, looking))?;
        Ok(looked
            .evidence
            .artifacts
            .remove(&artifact_name(name))
            .unwrap())
    }

    pub(crate) fn tree(&self) -> Tree {
        self.tree_from(&self.root())
    }

    pub(crate) fn tree_from(&self, folder: &Path) -> Tree {
        self.looking(folder, evidence::tree::read).unwrap()
    }

    /// The commands of the check see an empty home.
    pub(crate) fn private_home(&mut self) {
        let Work::Check(work) = &mut self.definition.stages[0].work else {
            panic!("the first stage is a check");
        };
        work.home = engine::HomeFolder::Private;
    }

    pub(crate) fn check(&self, surroundings: &CheckEnvironment) -> Result<Ran, Error> {
        let stage = StageName::parse(STAGE).unwrap();
        self.looking(&self.root(), |looking| {
            evidence::check::run(&stage, looking, surroundings)
        })
    }

    pub(crate) fn looking<T>(&self, from: &Path, then: impl FnOnce(&LookContext<'_>) -> T) -> T {
        let pipeline = Pipeline::from_cache(self.definition.clone());
        let project = Project::find(from).unwrap();
        let cache = self.outside().join("cache");
        then(&LookContext {
            pipeline: &pipeline,
            run: &self.run,
            project: &project,
            contents: &|hash: &Hash| self.contents.get(hash).cloned(),
            cache: self.caches.then_some(cache.as_path()),
            secrets: &self.secrets,
            given: self.given.clone(),
            reply: self.reply.as_deref(),
        })
    }
}

fn make_pipe(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Runs git as nobody in particular.
pub(crate) fn git<A: AsRef<OsStr>>(folder: &Path, words: impl IntoIterator<Item = A>) {
    let output = Command::new("git")
        .args([
            "-c",
            "protocol.file.allow=always",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "Test")))
        .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "test@example.org")))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

pub(crate) fn needs_artifact(name: &str) -> Needs {
    let need = ArtifactNeed {
        artifact: artifact_name(name),
        step: None,
        agent: AgentName::parse("worker").ok(),
    };
    Needs {
        artifacts: vec![need],
        ..Needs::default()
    }
}

pub(crate) fn artifact_name(name: &str) -> ArtifactName {
    ArtifactName::parse(name).unwrap()
}

pub(crate) fn outcome_field(field: &str, words: &[(&str, &str)]) -> OutcomeField {
    let meaning =
        |(word, outcome): &(&str, &str)| (String::from(*word), Outcome::parse(outcome).unwrap());
    OutcomeField {
        field: String::from(field),
        values: words.iter().map(meaning).collect(),
        reason: None,
    }
}

fn definition() -> Definition {
    let stage = Stage {
        name: StageName::parse(STAGE).unwrap(),
        about: None,
        shown: None,
        work: Work::Check(CheckWork {
            commands: Commands::Fixed(Vec::new()),
            fails_on: None,
            expects: None,
            home: engine::HomeFolder::Own,
        }),
        on: BTreeMap::new(),
        inject: None,
        stop: StopRule::Free,
        writes: Writes::Anything,
        tools_deny: Vec::new(),
        retry: None,
        timeout: None,
        heartbeat: None,
    };
    Definition {
        name: PipelineName::parse("example").unwrap(),
        about: String::new(),
        begins: Begins::Command,
        start: stage.name.clone(),
        helpers: Vec::new(),
        mode: Mode::Enforced,
        ttl: None,
        budget: Budget::default(),
        settings: None,
        params: BTreeMap::new(),
        counters: BTreeMap::new(),
        groups: BTreeMap::new(),
        artifacts: BTreeMap::new(),
        stages: vec![stage],
        views: Vec::new(),
        commands: BTreeMap::new(),
        gives: Vec::new(),
        ignores: Vec::new(),
        placement: engine::Placement::default(),
        litter: Vec::new(),
        protocol: None,
        proofs: Vec::new(),
    }
}

fn run(definition: &Definition) -> Run {
    let beginning = Beginning {
        branch: None,
        at: Time(1_700_000_000_000),
        by: Who::Engine,
        id: RunId::parse("r-1").unwrap(),
        definition: Hash([0; 32]),
        task: String::from("try it"),
        params: BTreeMap::new(),
        driver: Driver::ByHand,
        host: HostName::listed("claude"),
        session: None,
        process: None,
        steps: Vec::new(),
        before: BTreeMap::new(),
        queued: false,
        environment: None,
        base: None,
        commit: None,
        unverified_host: None,
    };
    let pipeline = Pipeline::from_cache(definition.clone());
    engine::replay(&engine::begin(&pipeline, &beginning).entries).unwrap()
}
