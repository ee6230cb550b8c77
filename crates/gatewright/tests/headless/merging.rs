//! What `gatewright merge` refuses before it touches the person's tree, and into which tree it merges.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::Ran;

use super::fixture::{World, says};
use super::places::{CHECKED, NAMES_ITSELF, folder, repository};

const BRANCH: &str = "gatewright/r-test-try";

fn git(world: &World, line: &str) -> String {
    let ran = world.project.git(line.split(' '));
    ran.stdout.trim().to_owned()
}

/// A completed run whose agent also did this.
fn completed(script: &str) -> World {
    let world = repository(CHECKED, &format!("{NAMES_ITSELF}\n{script}"));
    world.run("--branch").succeeds();
    world
}

/// The person commits something of their own, so that the branches diverge.
fn diverge(world: &World) {
    world.project.write("later.txt", "later\n");
    git(world, "add later.txt");
    git(world, "commit --quiet --message=later");
}

/// The settings of the person, for all of their repositories.
fn settings(world: &World, text: &str) {
    fs::write(world.project.home().join(".gitconfig"), text).unwrap();
}

/// Has git ignore this in every tree of the repository.
fn ignore(world: &World, patterns: &str) {
    world.project.write(".git/info/exclude", patterns);
}

/// What a merge could change: the commit, and what is not committed.
fn state(world: &World) -> [String; 3] {
    let status = git(world, "status --porcelain --ignored");
    let heads = git(world, "for-each-ref refs/heads");
    [git(world, "symbolic-ref HEAD"), status, heads]
}

/// Types `merge`, which must refuse and change nothing.
fn refused(world: &World) -> Ran {
    let before = state(world);
    let ran = world.gatewright("merge r-test").exits(1);
    assert_eq!(state(world), before, "{ran}");
    ran
}

/// Is one of these lines of what was said a command like this?
fn hints(ran: &Ran, command: &str) {
    says(&ran.stderr, &format!("`{command}"));
}

#[test]
fn an_ignored_file_of_the_person_is_never_overwritten() {
    let world = completed("echo secret=agent > .env; git add -f .env");
    ignore(&world, ".env\n");
    world.project.write(".env", "secret=mine\n");
    let ran = refused(&world);
    assert_eq!(world.project.read(".env"), "secret=mine\n");
    says(&ran.stderr, ".env");
    hints(&ran, "gatewright merge r-test`");
    assert!(!ran.stderr.contains("stash"), "{ran}");
    // The same bytes are not lost.
    world.project.write(".env", "secret=agent\n");
    world.gatewright("merge r-test").succeeds();
    assert_eq!(world.project.read("a.txt"), "r-test\n");
}

#[test]
fn nothing_ignored_is_lost_where_a_file_becomes_a_folder_or_the_other_way_round() {
    let script = "mkdir -p out cache; echo x > out/deep; echo x > cache/deep; echo x > kept; echo x > linked; git add -f out cache kept linked";
    let world = completed(script);
    ignore(&world, "/out\n/cache\n/kept\n/linked\n");
    world.project.write("out", "a file of mine\n");
    world.project.write("kept/inside/mine.txt", "mine\n");
    std::os::unix::fs::symlink("b.txt", world.project.path().join("linked")).unwrap();
    fs::create_dir(world.project.home().join("elsewhere")).unwrap();
    let elsewhere = world.project.home().join("elsewhere");
    std::os::unix::fs::symlink(elsewhere, world.project.path().join("cache")).unwrap();
    let ran = refused(&world);
    for path in ["out", "cache", "kept/inside/mine.txt", "linked"] {
        says(&ran.stderr, path);
    }
    assert_eq!(world.project.read("out"), "a file of mine\n");
    for (path, moved) in [
        ("out", "o"),
        ("cache", "c"),
        ("kept/inside", "k"),
        ("linked", "l"),
    ] {
        let root = world.project.path();
        fs::rename(root.join(path), world.project.home().join(moved)).unwrap();
    }
    // An empty folder is nobody's work.
    world.gatewright("merge r-test").succeeds();
    assert_eq!(world.project.read("kept"), "x\n");
}

#[test]
fn untracked_files_in_the_way_are_named_and_many_are_counted() {
    let world = completed("for i in 1 2 3 4 5 6 7; do echo agent > way$i.txt; done");
    for number in 1..=7 {
        let text = if number == 1 { "agent\n" } else { "mine\n" };
        world.project.write(format!("way{number}.txt"), text);
    }
    let ran = refused(&world);
    says(&ran.stderr, "way2.txt");
    says(&ran.stderr, "1 more");
    assert!(!ran.stderr.contains("way1.txt"), "{ran}");
    hints(&ran, "gatewright merge r-test`");
    assert!(!ran.stderr.contains("stash"), "{ran}");
}

#[test]
fn uncommitted_files_that_the_run_began_with_are_not_in_the_way() {
    let world = repository(CHECKED, NAMES_ITSELF);
    git(&world, "commit --quiet --all --message=mine");
    let names = ["new.txt", "odd [1]*.txt", "deep/ !name", "line\nbreak"];
    for name in names {
        world.project.write(name, "mine\n");
    }
    world.run("--branch --with-changes").succeeds();
    world.gatewright("merge r-test").succeeds();
    for name in names {
        assert_eq!(world.project.read(name), "mine\n");
    }
    assert_eq!(world.project.read("a.txt"), "r-test\n");
    assert_eq!(git(&world, "status --short"), "");
}

#[test]
fn changes_of_the_person_in_the_way_are_named_and_what_helps() {
    let world = completed("");
    world.project.write("a.txt", "mine\n");
    let ran = refused(&world);
    says(&ran.stderr, "a.txt");
    says(&ran.stderr, "stash");
}

#[test]
fn a_filtered_file_is_left_to_git_and_no_filter_of_the_repository_runs() {
    let world = repository(CHECKED, NAMES_ITSELF);
    world
        .project
        .write(".gitattributes", "*.bin filter=shout\n");
    world.project.write("x.bin", "stored\n");
    git(&world, "add .gitattributes x.bin");
    git(&world, "commit --quiet --message=bin");
    world.agent(&format!("{NAMES_ITSELF}\necho changed > x.bin"));
    world.run("--branch").succeeds();
    // Anybody who can write into the repository can name a program there.
    let ran_filter = world.programs().join("ran-filter");
    let smudge = format!("touch {}; tr a-z A-Z", ran_filter.display());
    let set = |key: &str, value: &str| world.project.git(["config", key, value]);
    set("filter.shout.smudge", &smudge);
    set("filter.shout.clean", "tr A-Z a-z");
    let ran = refused(&world);
    says(&ran.stderr, "x.bin");
    says(&ran.stderr, "shout");
    hints(&ran, &format!("git merge {BRANCH}`"));
    assert!(!ran_filter.exists());
    // Files that no filter concerns are merged, whatever the attributes say.
    git(&world, "config --unset filter.shout.smudge");
    git(&world, "config --unset filter.shout.clean");
    world.gatewright("merge r-test").succeeds();
    assert_eq!(world.project.read("x.bin"), "changed\n");
}

#[test]
fn attributes_that_the_branch_brings_count_for_its_files() {
    let world = completed("echo '*.bin filter=shout' > .gitattributes; echo new > y.bin");
    settings(
        &world,
        "[filter \"shout\"]\n\tsmudge = tr a-z A-Z\n\tclean = tr A-Z a-z\n",
    );
    let ran = refused(&world);
    says(&ran.stderr, "y.bin");
    assert!(!ran.stderr.contains("a.txt"), "{ran}");
}

#[test]
fn no_program_that_the_repository_names_runs_in_a_merge() {
    let world = repository(CHECKED, NAMES_ITSELF);
    let lines = |first: &str, last: &str| format!("{first}\n2\n3\n4\n5\n6\n{last}\n");
    world.project.write("both.txt", lines("1", "7"));
    git(&world, "add both.txt");
    git(&world, "commit --quiet --message=both");
    let driver = "echo '*.txt merge=own' > .gitattributes; sed -i s/1/one/ both.txt";
    world.agent(&format!("{NAMES_ITSELF}\n{driver}"));
    world.run("--branch").succeeds();
    world.project.write("both.txt", lines("1", "seven"));
    world.project.write(".gitattributes", "*.txt merge=own\n");
    git(&world, "add both.txt .gitattributes");
    git(&world, "commit --quiet --message=mine");
    let ran_driver = world.programs().join("ran-driver");
    for name in ["own", "own=it"] {
        let key = format!("merge.{name}.driver");
        let value = format!("touch {}", ran_driver.display());
        world.project.git(["config", &key, &value]);
    }
    let ran = world.gatewright("merge r-test").exits(1);
    assert!(!ran_driver.exists(), "{ran}");
    says(&ran.stderr, "both.txt");
    hints(&ran, &format!("git merge {BRANCH}`"));
}

#[test]
fn a_filter_with_an_odd_name_does_not_run_either() {
    let world = repository(CHECKED, NAMES_ITSELF);
    let ran_filter = world.programs().join("ran-filter");
    let smudge = format!("touch {}; cat", ran_filter.display());
    // The command line of git takes no key with an equals sign.
    world.project.git(["config", "filter.a=b.smudge", &smudge]);
    world.project.write(".gitattributes", "*.txt filter=a=b\n");
    git(&world, "add .gitattributes");
    git(&world, "commit --quiet --message=odd");
    world.run("--branch").succeeds();
    assert!(!ran_filter.exists(), "its worktree was made without");
    let ran = refused(&world);
    assert!(!ran_filter.exists());
    says(&ran.stderr, "a.txt");
}

#[test]
fn settings_of_the_person_for_merges_of_theirs_do_not_stop_ours() {
    let world = completed("");
    diverge(&world);
    settings(&world, "[merge]\n\tff = only\n\tautoStash = true\n");
    git(&world, "config branch.main.mergeOptions --squash");
    world.gatewright("merge r-test").succeeds();
    assert_eq!(git(&world, "log -1 --format=%P").split(' ').count(), 2);
    // This one is about whose work may come in.
    let world = completed("");
    diverge(&world);
    settings(&world, "[merge]\n\tverifySignatures = true\n");
    let ran = refused(&world);
    says(&ran.stderr, "signature");
    assert!(!ran.stderr.contains("stash"), "{ran}");
    hints(&ran, "gatewright merge r-test`");
}

#[test]
fn unrelated_histories_are_told_with_what_brings_the_work() {
    let world = completed("");
    git(&world, "checkout --quiet --force --orphan other");
    git(&world, "commit --quiet --message=again");
    let ran = refused(&world);
    says(&ran.stderr, "unrelated");
    assert!(!ran.stderr.contains("repair"), "{ran}");
    let base = git(&world, &format!("rev-parse {BRANCH}~1"));
    hints(&ran, &format!("git cherry-pick {base}..{BRANCH}`"));
}

#[test]
fn a_branch_without_a_commit_is_told() {
    let world = completed("");
    git(&world, "checkout --quiet --orphan empty");
    let ran = refused(&world);
    says(&ran.stderr, "empty has no commit");
    hints(&ran, "git switch main`");
}

/// A linked worktree, and a completed run that was started there.
fn linked(world: &World) -> PathBuf {
    let linked = world.project.home().join("wt");
    world.project.git([
        "worktree",
        "add",
        "--quiet",
        "-b",
        "side",
        linked.to_str().unwrap(),
    ]);
    let pipeline = world.project.path().join("pipeline.toml");
    let line = world.line("--branch");
    let line = line.replace("pipeline.toml", pipeline.to_str().unwrap());
    typed(world, &linked, &line).succeeds();
    linked
}

fn typed(world: &World, folder: &Path, line: &str) -> Ran {
    let mut command = world.command(line);
    Ran::from(command.current_dir(folder).output().unwrap())
}

fn remove(world: &World, linked: &Path) {
    let path = linked.to_str().unwrap();
    world.project.git(["worktree", "remove", "--force", path]);
}

#[test]
fn another_tree_than_the_one_where_merge_is_typed_is_named() {
    let world = repository(CHECKED, NAMES_ITSELF);
    let linked = linked(&world);
    let path = linked.to_str().unwrap();
    // What helps is to be typed there, too.
    fs::write(linked.join("note.txt"), "mine\n").unwrap();
    says(&world.gatewright("merge r-test").exits(1).stderr, path);
    fs::remove_file(linked.join("note.txt")).unwrap();
    let ran = world.gatewright("merge r-test").succeeds();
    says(&ran.stdout, path);
    assert_eq!(
        fs::read_to_string(linked.join("a.txt")).unwrap(),
        "r-test\n"
    );
    assert_eq!(world.project.read("a.txt"), "first\n");
    let ran = world.gatewright("merge r-test").succeeds();
    says(&ran.stdout, path);
    let ran = typed(&world, &linked, "merge r-test").succeeds();
    assert!(!ran.stdout.contains(path), "{ran}");
    let facts = world.facts("merge r-test");
    assert_eq!(facts["folder"], path);
}

#[test]
fn a_conflict_in_another_tree_is_resolved_there() {
    let world = repository(CHECKED, NAMES_ITSELF);
    let linked = linked(&world);
    let path = linked.to_str().unwrap();
    fs::write(linked.join("a.txt"), "other\n").unwrap();
    world
        .project
        .git(["-C", path, "commit", "--quiet", "--message=other", "a.txt"]);
    let ran = world.gatewright("merge r-test").exits(1);
    hints(&ran, &format!("git -C {path} merge {BRANCH}`"));
    let ran = typed(&world, &linked, "merge r-test").exits(1);
    hints(&ran, &format!("git merge {BRANCH}`"));
}

#[test]
fn a_run_whose_tree_is_gone_is_merged_where_it_is_typed() {
    let world = repository(CHECKED, NAMES_ITSELF);
    let linked = linked(&world);
    let place = folder(&world, "r-test");
    remove(&world, &linked);
    let elsewhere = world.project.home().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let ran = typed(&world, &elsewhere, "merge r-test").exits(1);
    says(&ran.stderr, linked.to_str().unwrap());
    says(&ran.stderr, BRANCH);
    hints(&ran, &format!("git merge {BRANCH}`"));
    let ran = world.gatewright("merge r-test").succeeds();
    says(&ran.stderr, linked.to_str().unwrap());
    says(&ran.stdout, world.project.path().to_str().unwrap());
    assert_eq!(world.project.read("a.txt"), "r-test\n");
    assert!(!place.exists(), "its worktree is not needed any more");
    assert!(!world.project.state().join("places/r-test").exists());
    assert_eq!(git(&world, "worktree list").lines().count(), 1);
}

#[test]
fn the_worktree_of_a_run_whose_tree_is_gone_is_collected() {
    let world = repository(CHECKED, NAMES_ITSELF);
    let linked = linked(&world);
    let place = folder(&world, "r-test");
    // What nobody committed yet is not lost.
    fs::write(place.join("more.txt"), "more\n").unwrap();
    remove(&world, &linked);
    let collected: Value = world.facts("gc");
    assert_eq!(collected["worktrees"], 1, "{collected}");
    assert!(!place.exists());
    assert_eq!(git(&world, "worktree list").lines().count(), 1);
    assert_eq!(git(&world, &format!("show {BRANCH}:more.txt")), "more");
    world.gatewright("merge r-test").succeeds();
    assert_eq!(world.project.read("a.txt"), "r-test\n");
}

/// A tag is as good a name as a branch, and git prefers it.
#[test]
fn a_tag_with_the_name_of_the_branch_is_not_merged() {
    let world = completed(
        r#"blob=$(echo evil | git hash-object -w --stdin)
        tree=$(printf '100644 blob %s\tevil.txt\n' "$blob" | git mktree)
        git tag gatewright/r-test-try "$(git commit-tree -p HEAD -m evil "$tree")""#,
    );
    diverge(&world);
    let tip = git(&world, &format!("rev-parse refs/heads/{BRANCH}"));
    // What the person types instead means the branch, too.
    let before = world.project.read("a.txt");
    world.project.write("a.txt", "mine\n");
    git(&world, "commit --quiet --all --message=mine");
    let ran = world.gatewright("merge r-test").exits(1);
    hints(&ran, &format!("git merge heads/{BRANCH}`"));
    world.project.write("a.txt", &before);
    git(&world, "commit --quiet --all --message=back");
    world.gatewright("merge r-test").succeeds();
    assert!(!world.is_there("evil.txt"));
    assert_eq!(world.project.read("a.txt"), "r-test\n");
    assert_eq!(git(&world, "rev-parse HEAD^2"), tip);
    says(&git(&world, "log -1 --format=%s"), BRANCH);
}

#[test]
fn another_repository_in_the_folder_of_the_run_is_not_its_tree() {
    let world = repository(CHECKED, NAMES_ITSELF);
    let linked = linked(&world);
    let path = linked.to_str().unwrap();
    remove(&world, &linked);
    git(&world, &format!("init --quiet {path}"));
    let commit = "-c user.name=a -c user.email=a@localhost commit --quiet --allow-empty";
    git(&world, &format!("-C {path} {commit} --message=other"));
    let before = git(&world, &format!("-C {path} log --all --format=%H"));
    let facts = world.facts("merge r-test");
    assert_eq!(facts["folder"], world.project.path().to_str().unwrap());
    assert_eq!(world.project.read("a.txt"), "r-test\n");
    assert_eq!(
        git(&world, &format!("-C {path} log --all --format=%H")),
        before
    );
    let gone = typed(&world, &linked, "merge r-test").exits(1);
    says(&gone.stderr, path);
}

#[test]
fn ignored_files_with_the_same_bytes_are_compared_by_one_git() {
    let odd = "od\"d\nna\\me\r";
    let world = completed(&format!(
        "mkdir out; for i in 1 2 3 4 5 6 7 8 9; do echo $i > out/$i; done; echo odd > 'out/{odd}'; git add -f out"
    ));
    ignore(&world, "out\n");
    for number in 1..=9 {
        let path = format!("out/{number}");
        world.project.write(path, format!("{number}\n"));
    }
    world.project.write(format!("out/{odd}"), "other\n");
    refused(&world);
    world.project.write(format!("out/{odd}"), "odd\n");
    let told = world.project.home().join("told");
    let target = told.display();
    settings(&world, &format!("[trace2]\n\tnormalTarget = {target}\n"));
    world.gatewright("merge r-test").succeeds();
    let told = fs::read_to_string(told).unwrap();
    let started = told.lines().filter(|line| line.contains(" start "));
    let hashing = started.filter(|line| line.contains("hash-object"));
    assert_eq!(hashing.count(), 1, "{told}");
}
