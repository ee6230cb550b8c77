//! Files that come along into a run's worktree by `carry` stay out of its commits, and what happens to them is said.

use std::fs;
use std::path::Path;

use super::delivery::remote;
use super::fixture::{World, says};
use super::places::{CHECKED, NAMES_ITSELF, folder, repository};

/// A project with a secret, which the pipeline carries and nothing but this line ignores: it is in no commit.
fn with_secret(script: &str) -> World {
    let pipeline = format!("carry = [\".env\", \"vendor\"]\n{CHECKED}");
    let world = repository(&pipeline, &format!("{NAMES_ITSELF}\n{script}"));
    world.project.write(".gitignore", ".env\nvendor\n");
    world.project.write(".env", "SECRET=1\n");
    world.project.write("vendor/lib/code.js", "library\n");
    world
}

/// Has the remote the run's branch?
fn is_pushed(world: &World, remote: &Path) -> bool {
    let listing = ["--git-dir", remote.to_str().unwrap(), "branch", "--list"];
    world
        .project
        .git(listing)
        .stdout
        .contains("gatewright/r-test-try")
}

/// The files of the commits of the run's branch.
fn committed(world: &World) -> Vec<String> {
    let words = [
        "log",
        "--format=",
        "--name-only",
        "main..gatewright/r-test-try",
    ];
    let log = world.project.git(words).stdout;
    let mut paths: Vec<String> = log.lines().map(str::to_owned).collect();
    paths.retain(|path| !path.is_empty());
    paths.sort();
    paths
}

#[test]
fn what_came_along_is_in_no_commit_though_nothing_ignores_it_there() {
    for script in [
        "cat .env",
        // An agent puts all into the index.
        "git add --all",
        "printf '' > .gitignore; git add --all",
    ] {
        let world = with_secret(script);
        let remote = remote(&world);
        world.run("--branch --push origin").succeeds();
        let committed = committed(&world);
        assert!(committed.contains(&"a.txt".to_owned()), "{committed:?}");
        let leaked = committed
            .iter()
            .any(|path| path.contains(".env") || path.contains("vendor"));
        assert!(!leaked, "{script}: {committed:?}");
        assert!(is_pushed(&world, &remote), "{script}");
        assert_eq!(world.project.read(".env"), "SECRET=1\n");
    }
}

#[test]
fn a_branch_in_which_an_agent_committed_a_secret_is_not_pushed() {
    let world = with_secret("git add --force .env; git commit --quiet --message=all");
    let remote = remote(&world);
    let ran = world.run("--branch --push origin").exits(1);
    says(&ran.stderr, ".env");
    assert!(!is_pushed(&world, &remote));
    assert_eq!(world.status("r-test"), "completed");
    // Also when its worktree is gone.
    let place = folder(&world, "r-test");
    assert!(place.is_dir());
    world.person("gc", "").succeeds();
    assert!(!place.exists());
    let again = world.gatewright("deliver r-test").exits(1);
    says(&again.stderr, ".env");
    assert!(!is_pushed(&world, &remote));
}

#[test]
fn what_a_pipeline_names_for_the_way_back_may_be_committed() {
    let pipeline = format!("carry = [\"lock.json\"]\ncarry_back = [\"lock.json\"]\n{CHECKED}");
    let script =
        format!("{NAMES_ITSELF}\ngit add --force lock.json; git commit --quiet --message=all");
    let world = repository(&pipeline, &script);
    world.project.write("lock.json", "{}\n");
    let remote = remote(&world);
    world.run("--branch --push origin").succeeds();
    assert!(is_pushed(&world, &remote));
}

#[test]
fn changes_of_what_came_along_are_named() {
    let world = with_secret("echo MORE=2 >> .env; mkdir vendor/new; echo x > vendor/new/code.js");
    let ran = world.run("--branch").succeeds();
    says(&ran.stderr, ".env");
    says(&ran.stderr, "vendor/new");
    assert!(!ran.stderr.contains("vendor/lib"), "{ran}");
    assert_eq!(world.project.read(".env"), "SECRET=1\n");

    let world = with_secret("cat .env vendor/lib/code.js");
    let ran = world.run("--branch").succeeds();
    assert!(!ran.stderr.contains(".env"), "{ran}");
}

#[test]
fn a_link_out_of_the_project_comes_along_with_what_it_names() {
    let world = with_secret("cat .env > \"$here/seen\"; echo MORE=2 >> .env");
    let shared = world.project.path().parent().unwrap().join("shared.env");
    fs::write(&shared, "SHARED=1\n").unwrap();
    fs::remove_file(world.project.path().join(".env")).unwrap();
    std::os::unix::fs::symlink("../shared.env", world.project.path().join(".env")).unwrap();
    let ran = world.run("--branch").succeeds();
    assert_eq!(world.noted("seen"), ["SHARED=1"]);
    assert_eq!(fs::read_to_string(&shared).unwrap(), "SHARED=1\n");
    says(&ran.stderr, ".env");
}

#[test]
fn files_of_a_submodule_that_the_work_fetched_do_not_hinder_the_delivery() {
    let world = with_submodule(FETCH);
    world.run("--branch").succeeds();
    assert_eq!(committed(&world), ["a.txt", "note.txt"]);
    world.gatewright("merge r-test").succeeds();
}

#[test]
fn uncommitted_work_that_a_filter_hides_is_in_no_commit() {
    let world = repository(CHECKED, NAMES_ITSELF);
    let git = |words: &[&str]| world.project.git(words.iter().copied()).succeeds();
    git(&["config", "filter.crypt.clean", "tr a-z n-za-m"]);
    git(&["config", "filter.crypt.smudge", "tr a-z n-za-m"]);
    world
        .project
        .write(".gitattributes", "*.sec filter=crypt\n");
    world.project.write("k.sec", "secret\n");
    // Git looks again at files that are as young as its index.
    let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let file = fs::File::options()
        .write(true)
        .open(world.project.path().join("k.sec"));
    file.unwrap().set_modified(hour_ago).unwrap();
    git(&["add", ".gitattributes", "k.sec"]);
    git(&["commit", "--quiet", "--message=sec"]);
    // As it is in the index, it hinders nobody.
    world.run("--branch --with-changes").succeeds();
    world.project.write("k.sec", "changed\n");
    let line = world
        .line("--branch --with-changes")
        .replace("r-test", "r-two");
    let ran = world.gatewright(&line).exits(1);
    says(&ran.stderr, "k.sec");
    let line = world.line("--branch").replace("r-test", "r-three");
    world.gatewright(&line).succeeds();
    // No object has the text of the file.
    let hash = git(&["hash-object", "--no-filters", "k.sec"]).stdout;
    let found = world
        .project
        .at_home("git")
        .args(["cat-file", "-e", hash.trim()])
        .output();
    assert!(!found.unwrap().status.success());
}

/// An agent can hide what git tells after a signature that its own program makes up.
#[test]
fn a_signature_that_an_agent_made_up_hides_no_secret_and_starts_nothing() {
    let world = with_secret(
        r#"printf '#!/bin/sh\ntouch "%s/started"\necho made up >&2\n' "$here" > "$here/verify"
        chmod +x "$here/verify"
        git config log.showSignature true
        git config gpg.program "$here/verify"
        git config log.showRoot false
        git add --force .env
        git commit --quiet --message=all
        git cat-file commit HEAD | awk '!done && /^$/ {
            print "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"; done = 1
        } { print }' > "$here/signed"
        git update-ref HEAD "$(git hash-object -t commit -w "$here/signed")""#,
    );
    let remote = remote(&world);
    let ran = world.run("--branch --push origin").exits(1);
    says(&ran.stderr, ".env");
    assert!(!is_pushed(&world, &remote));
    assert!(!world.programs().join("started").exists());
}

/// What git believes about the parents of a commit is in files that an agent can write.
#[test]
fn a_secret_in_a_commit_with_other_parents_is_found() {
    for script in [
        // A history of its own, merged.
        "git checkout --quiet --orphan other; git add --force .env; git commit --quiet --message=other
        git checkout --quiet --force gatewright/r-test-try
        git merge --quiet --allow-unrelated-histories -s ours -m both other
        git rev-list --all --objects | grep -q .env || exit 1",
        // A parent that has the secret already.
        r#"base=$(git rev-parse HEAD)
        git add --force .env; git commit --quiet --message=all
        hidden=$(git commit-tree -m hidden "$(git rev-parse 'HEAD^{tree}')")
        grafts=$(git rev-parse --git-common-dir)/info/grafts
        mkdir -p "$(dirname "$grafts")"
        echo "$(git rev-parse HEAD) $hidden" > "$grafts"
        echo "$base $hidden" >> "$grafts""#,
    ] {
        let world = with_secret(script);
        let remote = remote(&world);
        let ran = world.run("--branch --push origin").exits(1);
        says(&ran.stderr, ".env");
        assert!(!is_pushed(&world, &remote), "{script}");
    }
}

#[test]
fn parents_and_tags_that_an_agent_made_up_bring_no_secret_to_the_remote() {
    let world = with_secret(
        r#"base=$(git rev-parse HEAD)
        git add --force .env; git commit --quiet --message=secret
        secret=$(git rev-parse HEAD)
        git reset --quiet --soft "$base"; git rm --quiet --cached .env; git commit --quiet --message=work
        grafts=$(git rev-parse --git-common-dir)/info/grafts
        mkdir -p "$(dirname "$grafts")"
        echo "$(git rev-parse HEAD) $base $secret" > "$grafts"
        git config push.followTags true
        git tag --annotate --message="$(cat .env)" told"#,
    );
    let remote = remote(&world);
    world.run("--branch --push origin").succeeds();
    assert!(is_pushed(&world, &remote));
    let folder = ["--git-dir", remote.to_str().unwrap()];
    let asked = |words: &[&str]| world.project.git([&folder, words].concat());
    let listing = [
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objectname)",
    ];
    let objects = asked(&listing).succeeds().stdout;
    assert!(objects.lines().count() > 3, "{objects}");
    for object in objects.lines() {
        let content = asked(&["cat-file", "-p", object]).succeeds().stdout;
        assert!(!content.contains("SECRET"), "{content}");
    }
}

/// The submodule of this checkout gets a filter that leaves a mark, as an agent could set it up, and a file that git
/// would compare with it.
const FILTERED_SUBMODULE: &str = r#"
dir=$(git -C lib rev-parse --absolute-git-dir)
printf '#!/bin/sh\ntouch "%s/started"\ncat\n' "$here" > "$here/clean"
chmod +x "$here/clean"
git -C lib config filter.x.clean "$here/clean"
mkdir -p "$dir/info"
echo '* filter=x' > "$dir/info/attributes"
echo LIBRARY > lib/code.js
"#;

/// A project with a submodule that is checked out.
fn with_submodule(script: &str) -> World {
    let world = repository(CHECKED, &format!("{NAMES_ITSELF}\n{script}"));
    let library = world.project.home().join("library");
    let path = library.to_str().unwrap();
    let git = |line: &str| world.project.git(line.split(' ')).succeeds();
    git(&format!("init --quiet {path}"));
    fs::write(library.join("code.js"), "library\n").unwrap();
    let inside = format!("-C {path} -c user.name=a -c user.email=a@localhost");
    git(&format!("{inside} add code.js"));
    git(&format!("{inside} commit --quiet --message=one"));
    git(&format!(
        "-c protocol.file.allow=always submodule --quiet add {path} lib"
    ));
    git("commit --quiet --message=lib");
    world
}

const FETCH: &str = "git -c protocol.file.allow=always submodule --quiet update --init";

#[test]
fn no_filter_of_a_submodule_runs() {
    let world = with_submodule(&format!("{FETCH}\n{FILTERED_SUBMODULE}"));
    let started = world.programs().join("started");
    world.run("--branch").succeeds();
    assert!(!started.exists(), "in a delivery");
    assert_eq!(committed(&world), ["a.txt", "note.txt"]);
    // The same in the tree of the person.
    let script = format!("here={}\n{FILTERED_SUBMODULE}", world.programs().display());
    let mut shell = world.project.shell(&script);
    assert!(shell.status().unwrap().success());
    let line = world
        .line("--branch --with-changes")
        .replace("r-test", "r-two");
    world.gatewright(&line).succeeds();
    assert!(!started.exists(), "with changes");
    world.project.write("a.txt", "mine\n");
    says(&world.gatewright("merge r-test").exits(1).stderr, "stash");
    assert!(!started.exists(), "in a merge");
    let line = world.line("--in-place").replace("r-test", "r-three");
    world.gatewright(&line).succeeds();
    says(&world.gatewright("diff r-three").succeeds().stdout, "a.txt");
    assert!(!started.exists(), "in a look");
    world.project.git(["status"]).succeeds();
    assert!(started.exists(), "git itself starts it");
}

#[test]
fn a_commit_that_the_work_made_in_a_submodule_is_delivered() {
    let world = with_submodule(&format!(
        "{FETCH}\ngit -C lib -c user.name=a -c user.email=a@localhost commit --quiet --allow-empty --message=two
        git -C lib rev-parse HEAD > \"$here/two\""
    ));
    world.run("--branch").succeeds();
    let committed = world
        .project
        .git(["rev-parse", "gatewright/r-test-try:lib"]);
    assert_eq!(committed.stdout.trim(), world.noted("two")[0]);
}

/// Makes files of folders, folders of files, and links of both.
const REPLACES: &str = "
rm -rf file folder linked; mkdir file; echo in > file/inner; echo now > folder; ln -s away linked
mkdir away; echo x > away/one; rm gone; chmod +x mode; echo new > 'odd
name'";

/// A project with the files that are replaced.
fn with_replaced(script: &str) -> World {
    let world = repository(CHECKED, &format!("{NAMES_ITSELF}\n{script}"));
    for path in ["file", "folder/one", "linked/one", "gone", "mode"] {
        world.project.write(path, "first\n");
        world.project.git(["add", path]).succeeds();
    }
    let commit = ["commit", "--quiet", "--message=files"];
    world.project.git(commit).succeeds();
    world
}

#[test]
fn files_that_become_folders_or_links_and_the_other_way_round_are_committed() {
    let files = |world: &World, commit: &str| {
        let words = ["ls-tree", "-r", "-z", "--format=%(objectmode) %(path)"];
        let listed = world.project.git([words.as_slice(), &[commit]].concat());
        let mut listed: Vec<String> = listed.stdout.split('\0').map(str::to_owned).collect();
        listed.retain(|line| !line.is_empty() && !line.ends_with(".txt"));
        listed
    };
    let expected = [
        "100644 away/one",
        "100644 file/inner",
        "100644 folder",
        "120000 linked",
        "100755 mode",
        "100644 \"odd\\nname\"",
    ];
    let world = with_replaced(REPLACES);
    world.run("--branch").succeeds();
    assert_eq!(files(&world, "gatewright/r-test-try"), expected);
    // What the person has not committed, at the beginning.
    let world = with_replaced("");
    let mut shell = world.project.shell(REPLACES);
    assert!(shell.status().unwrap().success());
    world.run("--branch --with-changes").succeeds();
    let mut found = files(&world, "gatewright/r-test-try");
    found.retain(|line| !line.ends_with(".toml"));
    assert_eq!(found, expected);
}
