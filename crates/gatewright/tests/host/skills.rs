//! The skills of `ansible`: every YAML example is a file of a small project, and the real linters accept it.
#![expect(
    clippy::expect_used,
    reason = "a test that cannot be set up has failed"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// What the modules of a collection that is not installed here take, as their documentation says.
const PROXMOX: [(&str, &str); 2] = [
    (
        "proxmox_kvm",
        "node name vmid clone newid full storage timeout cores memory onboot agent ciuser sshkeys ipconfig update state",
    ),
    ("proxmox_vm_info", "type"),
];

const PROXMOX_LOGIN: &str = "api_host api_user api_token_id api_token_secret validate_certs";

fn skill(name: &str) -> &'static str {
    let ansible = language::builtin::find("ansible").expect("the built-in pipeline");
    let path = format!("skills/ansible-{name}/SKILL.md");
    let found = ansible.files.iter().find(|(at, _)| *at == path);
    found.expect("the skill is given").1
}

/// The path and the text of every example: the first line says where it belongs.
fn examples(text: &str) -> Vec<(String, String)> {
    let blocks = text.split("\n```yaml\n").skip(1);
    let blocks = blocks.map(|block| block.split("\n```").next().unwrap_or_default());
    blocks
        .map(|block| {
            let (first, rest) = block.split_once('\n').expect("an example has lines");
            let path = first.strip_prefix("# ").expect("an example has its path");
            (path.to_owned(), format!("{rest}\n"))
        })
        .collect()
}

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
    fs::write(path, text).expect("a file can be written");
}

/// Modules that do nothing, in place of a collection.
fn put_proxmox(root: &Path) {
    let folder = "collections/ansible_collections/community/proxmox/plugins/modules";
    for (module, arguments) in PROXMOX {
        let arguments = arguments.split(' ').chain(PROXMOX_LOGIN.split(' '));
        let spec: String = arguments
            .map(|name| format!("'{name}': {{'type': 'raw'}}, "))
            .collect();
        let text = format!(
            "from ansible.module_utils.basic import AnsibleModule\n\n\n\
             def main():\n    AnsibleModule(argument_spec={{{spec}}})\n\n\n\
             if __name__ == '__main__':\n    main()\n"
        );
        put(root, &format!("{folder}/{module}.py"), &text);
    }
}

/// A project with these files, as the skill `ansible-fundamentals` lays one out.
fn project(files: &[(String, String)]) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let root = folder.path();
    put(
        root,
        "ansible.cfg",
        "[defaults]\nroles_path = roles\ncollections_path = collections\n",
    );
    put_proxmox(root);
    for (path, text) in files {
        put(root, path, text);
    }
    folder
}

fn run(root: &Path, program: &str, words: &[&str]) -> Output {
    let mut command = Command::new(testkit::ansible::folder().join(program));
    command.current_dir(root).args(words).env_clear();
    command.env("PATH", testkit::ansible::path());
    command
        .env("HOME", root.join("home"))
        .env("LANG", "C.UTF-8");
    command.output().expect("the program can be started")
}

fn told(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    format!("{out}\n{err}")
}

fn lints(root: &Path) -> Result<(), String> {
    let words = [
        "--offline",
        "--nocolor",
        "--profile=production",
        "--exclude=collections",
    ];
    let linted = run(root, "ansible-lint", &words);
    if linted.status.success() {
        Ok(())
    } else {
        Err(told(&linted))
    }
}

fn check(name: &str) {
    let text = skill(name);
    let head = format!("---\nname: ansible-{name}\ndescription: ");
    assert!(text.starts_with(&head), "the head of {name}");
    let examples = examples(text);
    assert!(examples.len() > 1, "{name} has examples");
    let folder = project(&examples);
    let root = folder.path();
    assert_eq!(lints(root), Ok(()), "{name}");
    for (path, _) in &examples {
        if path.starts_with("playbooks/") || path.ends_with("/tests/test.yml") {
            let checked = run(root, "ansible-playbook", &["--syntax-check", path]);
            assert!(checked.status.success(), "{path}: {}", told(&checked));
        }
    }
}

#[test]
fn the_examples_of_fundamentals_are_good() {
    check("fundamentals");
}

#[test]
fn the_examples_of_playbook_design_are_good() {
    check("playbook-design");
}

#[test]
fn the_examples_of_role_design_are_good() {
    check("role-design");
}

#[test]
fn the_examples_of_idempotency_are_good() {
    check("idempotency");
}

#[test]
fn the_examples_of_secrets_are_good() {
    check("secrets");
}

#[test]
fn the_examples_of_error_handling_are_good() {
    check("error-handling");
}

#[test]
fn the_examples_of_testing_are_good() {
    check("testing");
}

#[test]
fn the_examples_of_proxmox_are_good() {
    check("proxmox");
}

#[test]
fn a_bad_example_would_be_noticed() {
    let good = examples(skill("fundamentals"));
    for (from, to, rule) in [
        ("ansible.builtin.package", "package", "fqcn"),
        ("mode: \"0644\"", "mode: 644", "risky-octal"),
        (
            "ansible.builtin.template",
            "ansible.builtin.tempalte",
            "syntax-check",
        ),
    ] {
        let change = |(path, text): &(String, String)| (path.clone(), text.replace(from, to));
        let bad: Vec<_> = good.iter().map(change).collect();
        let complaint = lints(project(&bad).path()).expect_err(from);
        assert!(complaint.contains(rule), "{from}: {complaint}");
    }
}
