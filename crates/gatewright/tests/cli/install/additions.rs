//! What a pipeline adds to files that are the person's: lines of `.gitignore`, a part of `CLAUDE.md`.

use std::os::unix::fs::symlink;

use testkit::Project;

use super::fixture::{LOCAL, init, project, tree, uninit};

const IGNORE: &str = ".gitignore";
const MEMORY: &str = "CLAUDE.md";

const SETTINGS: &str = "# gatewright: begin\n.claude/settings.local.json\n# gatewright: end\n";

/// A pipeline of the project's own that adds these lines, and tells this to sessions.
fn pipeline(name: &str, ignores: &str) -> String {
    format!(
        "name = '{name}'\nabout = 'Adds.'\nstart = 's'\nignores = [{ignores}]\n\
         protocol = '{name}.md'\n\
         [stages.s]\nagent = 'x'\non.done = 'e'\n[stages.e]\nend = 'completed'\n\
         [[prove]]\nname = 'it works'\nbefore = 'e'\nthrough = 's'\n"
    )
}

/// Writes it, trusts it and installs it.
fn installs(project: &Project, name: &str, ignores: &str, protocol: &str) {
    let path = format!(".gatewright/{name}.toml");
    project.write(&path, pipeline(name, ignores));
    project.write(format!(".gatewright/{name}.md"), protocol);
    project.trust(&path);
    init(project, &[&path]).succeeds();
}

fn part_of_memory(name: &str, text: &str) -> String {
    format!("<!-- gatewright {name}: begin -->\n\n{text}\n\n<!-- gatewright {name}: end -->\n")
}

#[test]
fn lines_and_protocol_stand_between_marks_and_are_renewed_and_taken_out() {
    let project = project();
    project.write(IGNORE, "target\n");
    project.write(MEMORY, "# Mine\n");
    let before = tree(&project.path());
    installs(&project, "one", "'*.bundle.md', '.task/'", "Say one.\n");
    let one = "# gatewright one: begin\n*.bundle.md\n.task/\n# gatewright one: end\n";
    assert_eq!(project.read(IGNORE), format!("target\n{one}{SETTINGS}"));
    let memory = part_of_memory("one", "Say one.");
    assert_eq!(project.read(MEMORY), format!("# Mine\n{memory}"));
    let again = init(&project, &[]).succeeds();
    assert_eq!(again.stdout.lines().count(), 1, "{again}");
    // Two pipelines may want the same line.
    installs(&project, "two", "'.task/'", "Say two.\n");
    installs(&project, "one", "'.task/'", "Say more.\n");
    let one = "# gatewright one: begin\n.task/\n# gatewright one: end\n";
    let two = "# gatewright two: begin\n.task/\n# gatewright two: end\n";
    assert_eq!(
        project.read(IGNORE),
        format!("target\n{one}{SETTINGS}{two}")
    );
    let (one, two) = (
        part_of_memory("one", "Say more."),
        part_of_memory("two", "Say two."),
    );
    assert_eq!(project.read(MEMORY), format!("# Mine\n{one}{two}"));
    uninit(&project).succeeds();
    for name in ["one", "two"] {
        std::fs::remove_file(project.path().join(format!(".gatewright/{name}.toml"))).unwrap();
        std::fs::remove_file(project.path().join(format!(".gatewright/{name}.md"))).unwrap();
    }
    std::fs::remove_dir(project.path().join(".gatewright")).unwrap();
    assert_eq!(tree(&project.path()), before);
}

#[test]
fn files_that_were_not_there_are_made_and_go_again() {
    let project = project();
    installs(&project, "one", "'.task/'", "Say one.\n");
    project.write(".task/x", "x");
    let status = project.git(["status", "--porcelain", "--untracked-files=all"]);
    assert!(!status.stdout.contains(".task"), "{status}");
    // Also when somebody has written into our part, and into nothing else.
    let longer = project.read(MEMORY).replace("Say one.", "Say one!");
    project.write(MEMORY, longer);
    uninit(&project).succeeds();
    for path in [IGNORE, MEMORY] {
        assert!(!project.path().join(path).exists(), "{path}");
    }
}

#[test]
fn what_the_person_writes_around_our_part_stays() {
    let project = project();
    project.write(IGNORE, "target\n");
    installs(&project, "one", "'.task/'", "Say one.\n");
    project.write(IGNORE, format!("first\n{}last\n", project.read(IGNORE)));
    project.write(MEMORY, format!("{}# Mine\n", project.read(MEMORY)));
    installs(&project, "one", "'.task/', '*.log'", "Say one again.\n");
    let one = "# gatewright one: begin\n.task/\n*.log\n# gatewright one: end\n";
    assert_eq!(
        project.read(IGNORE),
        format!("first\ntarget\n{one}{SETTINGS}last\n")
    );
    uninit(&project).succeeds();
    assert_eq!(project.read(IGNORE), "first\ntarget\nlast\n");
    assert_eq!(project.read(MEMORY), "# Mine\n");
}

#[test]
fn a_mark_that_lost_its_other_end_stops_everything_and_nothing_is_written() {
    let project = project();
    installs(&project, "one", "'.task/'", "Say one.\n");
    for path in [IGNORE, MEMORY] {
        let whole = project.read(path);
        let end = whole.lines().last().unwrap().to_owned();
        let begin = end.replace(": end", ": begin");
        project.write(path, whole.replace(&end, "mine"));
        let before = tree(&project.path());
        for ran in [init(&project, &[]), uninit(&project)] {
            let ran = ran.exits(1);
            for fact in [path, &begin] {
                assert!(ran.stderr.contains(fact), "{ran}");
            }
        }
        assert_eq!(tree(&project.path()), before);
        project.write(path, whole);
    }
    uninit(&project).succeeds();
}

#[test]
fn a_memory_file_that_is_a_link_stays_as_it_is() {
    let project = project();
    project.write("AGENTS.md", "# Mine\n");
    symlink("AGENTS.md", project.path().join(MEMORY)).unwrap();
    project.write(".gatewright/one.toml", pipeline("one", ""));
    project.write(".gatewright/one.md", "Say one.");
    project.trust(".gatewright/one.toml");
    let ran = init(&project, &["one"]).succeeds();
    assert!(ran.stderr.contains(MEMORY), "{ran}");
    assert_eq!(project.read("AGENTS.md"), "# Mine\n");
}

#[test]
fn the_doctor_and_a_dry_run_tell_what_somebody_took_out() {
    let project = project();
    installs(&project, "one", "'*.bundle.md', '.task/'", "Say one.\n");
    let tell = |project: &Project| {
        let doctor = project.run(["doctor"]).stdout;
        doctor + &project.run(["dry-run", "one", "--task", "x"]).stdout
    };
    let is_whole = |told: &str| !told.contains(IGNORE) && !told.contains(MEMORY);
    assert!(is_whole(&tell(&project)), "{}", tell(&project));
    let fewer = project.read(IGNORE).replace(".task/\n", "");
    project.write(IGNORE, fewer);
    let less = project.read(MEMORY).replace("Say one.", "Say nothing.");
    project.write(MEMORY, less);
    let told = tell(&project);
    // Each file is named by both commands, with the command that restores it.
    for (path, part) in [(IGNORE, "`.task/`"), (MEMORY, "one")] {
        let mut lines: Vec<&str> = told.lines().collect();
        lines.retain(|line| line.contains(path) && line.contains(part));
        lines.retain(|line| line.contains("`gatewright init`"));
        assert_eq!(lines.len(), 2, "{path}\n{told}");
    }
    assert!(!told.contains("*.bundle.md"), "{told}");
    init(&project, &[]).succeeds();
    assert!(is_whole(&tell(&project)), "{}", tell(&project));
    // A line of the person's own does as well.
    let own = project.read(IGNORE).replace("*.bundle.md\n", "") + "*.bundle.md\n";
    project.write(IGNORE, own);
    assert!(is_whole(&tell(&project)), "{}", tell(&project));
}

#[test]
fn trust_shows_what_is_added_before_anybody_agrees() {
    let project = project();
    project.write(".gatewright/one.toml", pipeline("one", "'.task/'"));
    project.write(".gatewright/one.md", "Say one.");
    let ran = project.trust(".gatewright/one.toml");
    let shown = ran.stdout.replace('\r', "");
    let expected = "\n  .gitignore: .task/\n  CLAUDE.md: one.md\n";
    assert!(shown.contains(expected), "{ran}");
    assert!(!project.path().join(LOCAL).exists());
}
