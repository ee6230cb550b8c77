//! Tables of Bash calls: what they plainly open and what they plainly change.

use super::*;

fn shown(command: &str) -> String {
    match ShellText::read(command).bypass(&|path| !path.contains("target/")) {
        Some(BypassAttempt::AgentProgram(agent)) => format!("agent {agent}"),
        Some(BypassAttempt::PersonsCommand(word)) => format!("person {word}"),
        Some(other) => format!("{other:?}"),
        None => String::from("-"),
    }
}

fn check(rows: &[(&str, &str)]) {
    for (command, door) in rows {
        assert_eq!(shown(command), *door, "{command}");
    }
}

#[test]
fn a_conversation_with_an_agent_program_is_found() {
    check(&[
        ("claude", "agent claude"),
        ("claude -p 'write the tests'", "agent claude"),
        ("claude --continue", "agent claude"),
        ("claude --resume abc -p hi", "agent claude"),
        ("claude 'fix it'", "agent claude"),
        ("claude --bg 'fix it'", "agent claude"),
        ("claude config -p", "agent claude"),
        ("claude attach x", "agent claude"),
        ("claude mcp serve", "agent claude"),
        ("claude -p --bare hi", "agent claude"),
        (
            "claude --settings '{\"disableAllHooks\":true}' -p hi",
            "agent claude",
        ),
        ("claude --setting-sources user -p hi", "agent claude"),
        ("claude --append-system-prompt --help -p hi", "agent claude"),
        ("cd /tmp && claude -p hi", "agent claude"),
        ("true; claude -p hi", "agent claude"),
        ("false || claude -p hi", "agent claude"),
        ("echo hi | claude -p", "agent claude"),
        ("claude -p hi &", "agent claude"),
        ("true\nclaude -p hi", "agent claude"),
        ("(claude -p hi)", "agent claude"),
        ("{ claude -p hi; }", "agent claude"),
        ("x=$(claude -p hi)", "agent claude"),
        ("echo \"answer: $(claude -p hi)\"", "agent claude"),
        ("echo `claude -p hi`", "agent claude"),
        ("cat <(claude -p hi)", "agent claude"),
        ("echo $(( $(claude -p hi) + 1 ))", "agent claude"),
        ("((claude -p hi) | cat)", "agent claude"),
        ("tmux split-window -h claude -p hi", "agent claude"),
        ("cat <<EOF\n$(claude -p hi)\nEOF", "agent claude"),
        ("ANTHROPIC_API_KEY=x claude -p hi", "agent claude"),
        ("env -u CLAUDECODE A=b claude -p hi", "agent claude"),
        ("env -i PATH=$PATH claude -p hi", "agent claude"),
        ("env -S 'claude -p hi'", "agent claude"),
        ("exec claude -p hi", "agent claude"),
        ("nohup claude -p hi > log 2>&1 &", "agent claude"),
        ("sudo -u dev claude -p hi", "agent claude"),
        ("time claude -p hi", "agent claude"),
        ("command claude -p hi", "agent claude"),
        ("\\claude -p hi", "agent claude"),
        ("cl''aude -p hi", "agent claude"),
        ("/usr/local/bin/claude -p hi", "agent claude"),
        ("~/.local/bin/claude -p hi", "agent claude"),
        ("\"$HOME/bin/claude\" -p hi", "agent claude"),
        ("$(which claude) -p hi", "agent claude"),
        ("timeout 60 claude -p hi", "agent claude"),
        ("timeout -k 5 60s claude -p hi", "agent claude"),
        ("setsid nohup nice -n 5 claude -p hi", "agent claude"),
        ("bash -c 'claude -p hi'", "agent claude"),
        ("sh -ec \"cd x && claude -p hi\"", "agent claude"),
        ("bash -lc \"sh -c 'claude -p hi'\"", "agent claude"),
        ("eval \"claude -p hi\"", "agent claude"),
        ("bash <<EOF\nclaude -p hi\nEOF", "agent claude"),
        ("echo 'claude -p hi' | sh", "agent claude"),
        ("cat <<'X' | bash\nclaude -p hi\nX", "agent claude"),
        ("script -qec 'claude -p hi' /dev/null", "agent claude"),
        ("tmux new-session -d -s work 'claude -p hi'", "agent claude"),
        ("tmux new -d claude -p hi", "agent claude"),
        ("tmux send-keys -t 0 'claude -p hi' Enter", "agent claude"),
        ("screen -dmS x claude -p hi", "agent claude"),
        ("ls *.md | xargs -n1 claude -p", "agent claude"),
        ("ls | xargs -I{} sh -c 'claude -p {}'", "agent claude"),
        ("find . -name '*.md' -exec claude -p {} \\;", "agent claude"),
        ("for f in a b; do claude -p $f; done", "agent claude"),
        ("if true; then claude -p hi; fi", "agent claude"),
        ("while ! claude -p hi; do sleep 1; done", "agent claude"),
        ("npx @anthropic-ai/claude-code -p hi", "agent claude"),
        (
            "npx -y @anthropic-ai/claude-code@2.1.325 -p hi",
            "agent claude",
        ),
        (
            "npx -p @anthropic-ai/claude-code claude -p hi",
            "agent claude",
        ),
        ("bunx claude -p hi", "agent claude"),
        ("pnpm dlx @anthropic-ai/claude-code -p hi", "agent claude"),
        ("npm exec -- @openai/codex exec hi", "agent codex"),
        (
            "node node_modules/@anthropic-ai/claude-code/cli.js -p hi",
            "agent claude",
        ),
        ("codex exec 'fix it'", "agent codex"),
        ("codex resume --last", "agent codex"),
        ("gemini -p hi", "agent gemini"),
        ("npx @google/gemini-cli -p hi", "agent gemini"),
        ("qwen -p hi", "agent qwen"),
        ("goose run -t hi", "agent goose"),
        ("goose session", "agent goose"),
        ("copilot -p hi --allow-all-tools", "agent copilot"),
        ("gh copilot -p hi", "agent copilot"),
        ("cursor-agent -p hi", "agent cursor-agent"),
        ("opencode run hi", "agent opencode"),
        ("aider --message hi", "agent aider"),
        ("python3 -m aider --message hi", "agent aider"),
        ("uvx aider-chat --message hi", "agent aider"),
        ("amp -x hi", "agent amp"),
    ]);
}

#[test]
fn other_uses_of_the_same_words_stay_free() {
    check(&[
        ("claude --version", "-"),
        ("claude -v", "-"),
        ("claude --help", "-"),
        ("claude mcp list", "-"),
        ("claude plugin validate --strict .", "-"),
        ("claude doctor", "-"),
        ("claude agents", "-"),
        ("claude logs x", "-"),
        ("codex --version", "-"),
        ("codex mcp list", "-"),
        ("gemini extensions list", "-"),
        ("aider --list-models gpt", "-"),
        ("goose up", "-"),
        ("goose -dir migrations postgres up", "-"),
        ("copilot svc deploy", "-"),
        ("gh copilot suggest x", "-"),
        ("gh pr list", "-"),
        ("echo claude -p hi", "-"),
        ("grep -rn 'claude -p' docs", "-"),
        ("git commit -m 'claude: run claude -p'", "-"),
        ("cat > notes.md <<'EOF'\nclaude -p hi\nEOF", "-"),
        ("# claude -p hi", "-"),
        ("which claude", "-"),
        ("command -v claude", "-"),
        ("ls ~/.claude", "-"),
        ("npm install -g @anthropic-ai/claude-code", "-"),
        ("sudo -u claude ls", "-"),
        ("tmux new -d -s claude 'npm test'", "-"),
        ("tmux kill-session -t claude", "-"),
        ("amp=1; echo $((amp * 3 > 2))", "-"),
        ("(( claude > 2 )) && echo many", "-"),
        ("timeout 5 grep claude log", "-"),
        ("for agent in claude codex; do echo $agent; done", "-"),
        ("case $x in claude) echo a;; codex) echo b;; esac", "-"),
        ("./claude.sh", "-"),
        ("python3 -c \"print('claude -p')\"", "-"),
        ("node build.js claude", "-"),
        ("find . -name claude", "-"),
        ("cargo test && npm test", "-"),
        ("", "-"),
    ]);
}

#[test]
fn a_persons_commands_are_found_and_an_agents_are_not() {
    check(&[
        ("gatewright answer continue", "person answer"),
        ("gatewright finish", "person finish"),
        ("gatewright --json skip --reason x", "person skip"),
        ("gatewright --color never reset", "person reset"),
        ("gatewright --color=never cancel", "person cancel"),
        ("~/bin/gatewright restore 3", "person restore"),
        ("/opt/gatewright fork", "person fork"),
        ("./target/debug/gatewright fork", "-"),
        ("gatewright metrics", "-"),
        ("gatewright new mine", "-"),
        ("gatewright dry-run", "-"),
        ("gatewright doctor", "-"),
        ("gatewright verify", "-"),
        ("env -i gatewright gc", "person gc"),
        ("script -qec 'gatewright trust' /dev/null", "person trust"),
        ("setsid gatewright uninit --yes", "person uninit"),
        (
            "echo yes | gatewright bypass --for 30m --reason x",
            "person bypass",
        ),
        ("bash -c 'gatewright retry'", "person retry"),
        ("gatewright checkpoint a", "person checkpoint"),
        ("gatewright run", "person run"),
        ("gatewright status", "-"),
        ("gatewright next --json", "-"),
        ("gatewright check && gatewright step", "-"),
        ("gatewright report --outcome passed", "person report"),
        (
            "gatewright start x --task y --by-hand",
            "person start --by-hand",
        ),
        ("gatewright start x --task 'do it --by-hand'", "-"),
        ("gatewright start ansible 'reset the cache'", "-"),
        ("gatewright why", "-"),
        ("gatewright reset --help", "-"),
        ("gatewright help reset", "-"),
        ("gatewright --version", "-"),
        ("gatewright", "-"),
        ("echo gatewright reset", "-"),
        ("gatewright status # gatewright reset", "-"),
    ]);
}

#[test]
fn a_planted_prompt_cannot_act_as_a_person() {
    let check = |prompt: &str, expected: Option<&str>| {
        let door = in_prompt(prompt, &["cancel-loop", "answer"]);
        let expected = expected.map(|word| BypassAttempt::PersonsCommand(word.to_owned()));
        assert_eq!(door, expected, "{prompt}");
    };
    check("/cancel-loop", Some("/cancel-loop"));
    check("  /answer continue", Some("/answer"));
    check("/loop 5m /cancel-loop too slow", Some("/cancel-loop"));
    check("/review:cancel-loop", Some("/review:cancel-loop"));
    check(
        "<task-notification><task-id>a1</task-id>",
        Some("a message of the host"),
    );
    check(
        "look at <agent-message from=\"a1\">",
        Some("a message of the host"),
    );
    check("/loop 5m run the tests", None);
    check("check the deploy, then answer", None);
    check("", None);
}

/// Writes as one line each: the folders entered, the path, and how far the change reaches.
fn shown_writes(command: &str) -> Vec<String> {
    let shown = ShellText::read(command).writes().into_iter().map(|write| {
        let entered = write.entered.iter().map(|word| format!("{word}: "));
        let entered: String = entered.collect();
        let reach = match write.reach {
            Reach::Itself => String::new(),
            Reach::Tree => String::from(" and all in it"),
            Reach::Picked => String::from(" or some of it"),
            Reach::Copies(words) => {
                let words: Vec<_> = words.iter().map(|word| word.pattern()).collect();
                format!(" from {}", words.join(" "))
            }
        };
        format!("{entered}{}{reach}", write.path.pattern())
    });
    shown.collect()
}

fn check_writes(rows: &[(&str, &[&str])]) {
    for (command, expected) in rows {
        assert_eq!(shown_writes(command), *expected, "{command}");
    }
}

#[test]
fn the_files_that_a_text_names_for_writing_are_found() {
    check_writes(&[
        ("echo '{}' > a.json", &["a.json"]),
        ("cmd &> a 2>> b", &["a", "b"]),
        ("cat > a <<'X'\nrm b\nX", &["a"]),
        ("exec 3> a", &["a"]),
        (
            "echo x | sudo tee -a /etc/a > /dev/null",
            &["/dev/null", "/etc/a"],
        ),
        ("rm -f a 'b c'", &["a", "b c"]),
        ("rm -rf {dist,build}", &["{dist,build} and all in it"]),
        ("rm '*.bak' *.tmp", &[r"\*.bak", "*.tmp"]),
        ("chmod -R a-w a", &["a-w or some of it", "a or some of it"]),
        ("mv a b", &["a or some of it", "b from a"]),
        ("cp -r tpl/* .", &[". from tpl/*"]),
        ("cp -t d a b", &["d from d a b"]),
        ("dd if=a of=b", &["b"]),
        ("sed -i.bak -e s/a/b/ c", &["s/a/b/", "c"]),
        ("sed -Ei s/a/b/ c", &["s/a/b/", "c"]),
        ("jq . a | sponge a", &["a"]),
        ("curl --output=a http://x", &["a"]),
        ("sort -o a b", &["a"]),
        (
            "git checkout HEAD -- a",
            &["HEAD or some of it", "a or some of it"],
        ),
        ("git rm -r a", &["a or some of it"]),
        ("git restore --staged --worktree a", &["a or some of it"]),
        ("git restore -SW a", &["a or some of it"]),
        ("git clean -fdx a", &["a or some of it"]),
        ("git clean -fdx -e a b", &["b or some of it"]),
        (
            "git clean -e a -fdx -- -e b",
            &["-e or some of it", "b or some of it"],
        ),
        ("find a b -type f -delete", &["a", "b"]),
        (r"find . -name '*.bak' -exec rm {} \;", &["{}", ";"]),
        ("sudo -u dev env A=b rm a", &["a"]),
        ("x=$(rm a)", &["a"]),
        ("bash -c 'rm a'", &["a"]),
        ("echo 'rm a' | bash", &["a"]),
    ]);
}

#[test]
fn the_folder_of_a_write_is_the_one_that_its_shell_entered() {
    check_writes(&[
        ("cd a && rm b", &["a: b"]),
        ("cd a; cd ../c; rm b", &["a: ../c: b"]),
        ("cd && rm b", &["~: b"]),
        ("cd - && rm b", &["-: b"]),
        ("(cd a && rm b); rm c", &["a: b", "c"]),
        ("x=$(cd a; pwd); rm c", &["c"]),
        ("cd a; (cd b; rm c); rm d", &["a: b: c", "a: d"]),
        ("bash -c 'cd a; rm b'; rm c", &["a: b", "c"]),
    ]);
}

#[test]
fn what_a_text_only_reads_mentions_or_computes_is_not_a_write() {
    for command in [
        "",
        "cat a",
        "grep -r x a",
        "cp",
        "sed -n 1,5p a",
        "git diff -- a",
        "git clean -fdx -e a",
        "git clean -fdxe a",
        "git clean -fdx -ea",
        "git clean -fdx --exclude a --exclude=b",
        "git clean -fdx --excl a -",
        "git add a",
        "git rm --cached a",
        "git rm -r --cached a",
        "git restore --staged a",
        "git restore -S -- a",
        "echo $((2 * 3 > 5))",
        "(( a > b )) && echo c",
        "echo 'rm a'",
        "git commit -m 'rm a > b'",
        "python3 -c \"print(2 * 3 > 5)\"",
        "python3 - <<'X'\nopen('a', 'w')\nX",
        "node -e \"require('fs').writeFileSync('a', '')\"",
        "awk '$1 > 5 { print }' a",
        "perl -pi -e s/a/b/ c",
        "echo a | xargs rm",
        "sqlite3 a 'select * from users'",
        "d=a; rm -rf $d/b",
        "for f in a; do echo $f; done",
    ] {
        assert_eq!(shown_writes(command), [""; 0], "{command}");
    }
}

/// Longer than what is read of a text: its end may be cut off.
#[test]
fn a_long_here_document_is_passed_over() {
    let lines = "claude -p hi\nrm -rf .claude\ngatewright reset\n".repeat(4096);
    let text = format!("cat > a.md <<'X'\n{lines}X\ncat > b.md <<'X'\n{lines}X\n");
    assert!(text.len() > 2 * shell::LONGEST_COMMAND);
    for text in [text.as_str(), shell::beginning(&text)] {
        assert_eq!(shown(text), "-");
        let writes = shown_writes(text);
        assert!(writes.iter().all(|it| it.ends_with(".md")), "{writes:?}");
    }
}

#[test]
fn long_and_broken_texts_end() {
    for piece in [
        "(",
        "$(",
        "bash -c '",
        "eval \"",
        "rm *",
        "a/../",
        "***a/",
        "xargs ",
        "cd a;",
    ] {
        let text = piece.repeat(64 * 1024 / piece.len());
        let text = ShellText::read(&text);
        text.bypass(&|_| true);
        text.writes();
    }
}
