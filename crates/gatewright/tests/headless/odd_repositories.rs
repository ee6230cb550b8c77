//! Repositories that are not like others, and runs with branches of their own in them: one clear line each, and
//! nothing is lost.

use std::fs;

use testkit::Ran;

use super::fixture::{PROGRAM, World, says};
use super::places::{CHECKED, NAMES_ITSELF, folder, repository};

fn git(world: &World, line: &str) -> String {
    let ran = world.project.git(line.split(' ')).succeeds();
    ran.stdout.trim().to_owned()
}

fn queue(world: &World) -> Ran {
    let line = world.line("").replacen("run ", "start ", 1);
    world.gatewright(&format!("{line} --queue")).succeeds()
}

const BRANCH: &str = "gatewright/r-test-try";

#[test]
fn a_base_that_moved_stays_the_base_and_both_are_merged() {
    let world = repository(CHECKED, NAMES_ITSELF);
    queue(&world);
    let base = git(&world, "rev-parse main");
    world.project.write("later.txt", "later\n");
    git(&world, "add later.txt");
    git(&world, "commit --quiet --message=later");
    world.gatewright("worker --once").succeeds();
    assert_eq!(git(&world, &format!("rev-parse {BRANCH}~1")), base);
    world.gatewright("merge r-test").succeeds();
    assert_eq!(world.project.read("later.txt"), "later\n");
    assert_eq!(world.project.read("a.txt"), "r-test\n");
}

#[test]
fn a_base_that_nobody_has_any_more_is_told_and_the_run_stays_in_the_queue() {
    let world = repository(CHECKED, NAMES_ITSELF);
    queue(&world);
    let base = git(&world, "rev-parse main");
    git(&world, "stash clear");
    git(&world, "commit --quiet --amend --message=another");
    git(&world, "reflog expire --expire=now --all");
    git(&world, "gc --quiet --prune=now");
    let ran = world.gatewright("worker --once");
    let ran = ran.exits(1);
    assert_eq!(world.status("r-test"), "queued");
    says(&ran.stderr, &base);
    says(&ran.stderr, "gatewright cancel r-test");
    world.gatewright("cancel r-test --reason gone").succeeds();
}

#[test]
fn a_submodule_is_told_and_stays_as_it_was() {
    let world = repository(CHECKED, NAMES_ITSELF);
    let library = world.project.home().join("library");
    let library = library.to_str().unwrap();
    git(&world, &format!("init --quiet {library}"));
    git(
        &world,
        &format!("-C {library} commit --quiet --allow-empty --message=library"),
    );
    git(
        &world,
        &format!("-c protocol.file.allow=always submodule --quiet add {library} sub"),
    );
    git(&world, "commit --quiet --message=sub");
    let before = git(&world, "rev-parse main:sub");
    let ran = world.run("--branch").succeeds();
    says(&ran.stderr, "submodule");
    assert_eq!(git(&world, &format!("rev-parse {BRANCH}:sub")), before);
    let changed = git(&world, &format!("diff --name-only main {BRANCH}"));
    assert_eq!(changed, "a.txt\nnote.txt");
}

#[test]
fn pointers_of_a_large_file_store_stay_pointers_and_that_is_told() {
    let world = repository(CHECKED, NAMES_ITSELF);
    // A filter that fails: nobody may start it.
    for (name, value) in [
        ("clean", "false"),
        ("smudge", "false"),
        ("required", "true"),
    ] {
        world
            .project
            .git(["config", &format!("filter.lfs.{name}"), value])
            .succeeds();
    }
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n";
    world.project.write(".gitattributes", "*.bin filter=lfs\n");
    let blob = world.project.write("pointer", pointer);
    let id = git(&world, "hash-object -w --no-filters pointer");
    fs::remove_file(blob).unwrap();
    git(
        &world,
        &format!("update-index --add --cacheinfo 100644,{id},large.bin"),
    );
    git(&world, "add .gitattributes");
    git(&world, "commit --quiet --message=large");
    let ran = world.run("--branch").succeeds();
    says(&ran.stderr, "LFS");
    let there = fs::read_to_string(folder(&world, "r-test").join("large.bin")).unwrap();
    assert_eq!(there, pointer);
    assert_eq!(git(&world, &format!("rev-parse {BRANCH}:large.bin")), id);
}

/// Git compares the content of files that are as young as its index, and starts their filters for that.
#[test]
fn a_look_at_what_changed_starts_no_filter() {
    let world = repository(CHECKED, NAMES_ITSELF);
    let started = world.programs().join("started");
    let clean = format!("touch {}; cat", started.display());
    world
        .project
        .git(["config", "filter.x.clean", &clean])
        .succeeds();
    world.project.write(".gitattributes", "*.sec filter=x\n");
    let path = world.project.write("k.sec", "text\n");
    let young = std::time::SystemTime::now() + std::time::Duration::from_secs(3600);
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(young).unwrap();
    git(&world, "add .gitattributes k.sec");
    git(&world, "commit --quiet --message=sec");
    fs::remove_file(&started).unwrap();
    world.run("").succeeds();
    says(&world.gatewright("diff r-test").succeeds().stdout, "a.txt");
    assert!(!started.exists());
    git(&world, "status");
    assert!(started.exists(), "git itself starts it");
}

#[test]
fn a_list_of_what_comes_along_never_leaves_the_project() {
    let world = repository(CHECKED, NAMES_ITSELF);
    for carried in ["../secret", "/etc/passwd", "a/../../secret", "*", "./"] {
        world
            .project
            .write("try.toml", format!("carry = [\"{carried}\"]\n{CHECKED}"));
        let ran = world.gatewright("lint try.toml").exits(1);
        says(&ran.stderr, "GW-L137");
    }
    let secret = world.project.home().join("secret");
    fs::write(&secret, "secret\n").unwrap();
    world.project.write(".gitignore", ".worktreeinclude\n");
    world.project.write(
        ".worktreeinclude",
        "../home/secret\n/../home/secret\n.git\n",
    );
    world.run("--branch").succeeds();
    let place = folder(&world, "r-test");
    assert!(!place.join("secret").exists());
    assert!(!place.parent().unwrap().join("home/secret").exists());
    assert!(place.join(".git").is_file(), "its own");
}

/// The worker says that there is too little room before the disk is full.
#[test]
fn a_disk_without_room_keeps_the_run_in_the_queue_until_there_is_room() {
    let world = repository(CHECKED, NAMES_ITSELF);
    let agent = world.programs().join("agent");
    let script = format!(
        r#"
        mount -t tmpfs -o size=100m,mode=700 tmpfs "$XDG_STATE_HOME"
        hash=$({PROGRAM} trust pipeline.toml --show | sed -n 's/^hash  //p')
        {PROGRAM} trust pipeline.toml --hash "$hash"
        {PROGRAM} start pipeline.toml --queue --task try --id r-test --stand-in {}
        {PROGRAM} worker --once && exit 40
        {PROGRAM} list --json | grep -q '"status": *"queued"' || exit 41
        mount -o remount,size=2g "$XDG_STATE_HOME"
        {PROGRAM} worker --once
        {PROGRAM} list --all --json | grep -q '"status": *"completed"' || exit 42"#,
        agent.display()
    );
    let mut command = world.project.at_home("unshare");
    command.args([
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-e",
        "-c",
        &script,
    ]);
    let ran = Ran::from(command.output().unwrap()).succeeds();
    says(&ran.stderr, "MB free");
    assert_eq!(git(&world, &format!("show {BRANCH}:a.txt")), "r-test");
}
