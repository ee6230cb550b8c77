//! Tables of shell texts and what is read from them.

use super::*;

/// Commands as one line each: words with `·` between them, then files and texts.
fn shown(text: &str) -> Vec<String> {
    let shown = commands(text).into_iter().map(|command| {
        let words: Vec<&str> = command.words.iter().map(|word| &**word).collect();
        let mut line = words.join("·");
        line.extend(command.written.iter().map(|file| format!(" >{file}")));
        line.extend(command.given.iter().map(|text| format!(" <<{text:?}")));
        line.extend(command.piped_from.map(|from| format!(" |{from}")));
        line
    });
    shown.collect()
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(shown(text), expected, "{text}");
}

#[test]
fn words_lose_their_quotes_and_nothing_else() {
    check("", &[]);
    check("  \n ;; \n", &[]);
    check("a 'b c' \"d e\" f\\ g", &["a·b c·d e·f g"]);
    check("a''b\"c\"'d' '' \"\"", &["abcd··"]);
    check("echo \"a \\\"b\\\" \\$c\"", &["echo·a \"b\" $c"]);
    check("echo $'it\\'s' $\"x\"", &["echo·it's·x"]);
    check("a \\\n  b", &["a·b"]);
    check("a b # c; d\ne", &["a·b", "e"]);
    check("a#b '#c'", &["a#b·#c"]);
    check("echo $HOME ${X:-a b} ~/x", &["echo·$HOME·${X:-a b}·~/x"]);
    check("echo 'open", &["echo·open"]);
    check("é \"ü\"", &["é·ü"]);
}

#[test]
fn commands_end_where_a_shell_ends_them() {
    check("a; b && c || d & e\nf", &["a", "b", "c", "d", "e", "f"]);
    check("a | b |& c", &["a", "b |0", "c |1"]);
    check("a || b", &["a", "b"]);
    check("(a; b) && { c; }", &["a", "b", "{·c", "}"]);
    check("case $x in a) b;; c) d;; esac", &["b", "d", "esac"]);
    check("if a; then b; fi", &["if·a", "then·b", "fi"]);
}

#[test]
fn substitutions_are_commands_too() {
    check("echo $(a b) `c d`", &["a·b", "c·d", "echo·$()·$()"]);
    check("echo \"x $(a \"b c\") y\"", &["a·b c", "echo·x $() y"]);
    check("echo '$(a)'", &["echo·$(a)"]);
    check("diff <(a) >(b)", &["a", "b", "diff·$()·$()"]);
    check("$(which a) -p", &["which·a", "a·-p"]);
    check("\"$(command -v a)\" -p", &["command·-v·a", "a·-p"]);
    check("`which a`/b", &["which·a", "a/b"]);
}

#[test]
fn a_calculation_runs_nothing_but_its_substitutions() {
    check("echo $((a * 3 > 2)) b", &["echo·$()·b"]);
    check("x=$(( (a + 1) * (b > 2) ))", &["x=$()"]);
    check("echo \"$((a > b)) c\"", &["echo·$() c"]);
    check("(( a * 3 > b )) && c", &["$()", "c"]);
    check(
        "for ((i = 0; i < 3; i++)); do a; done",
        &["for·$()", "do·a", "done"],
    );
    check("echo $(( $(a b) + `c` ))", &["a·b", "c", "echo·$()"]);
    check("cat <<X\n$((a > b))\nX", &["cat <<\"$((a > b))\\n\""]);
    // A subshell in a subshell is none.
    check("((a b) | c)", &["a·b", "c"]);
    check("( (a b))", &["a·b"]);
    check("((a); (b))", &["a", "b"]);
    check("x=$((a) | b)", &["a", "b", "x=$()"]);
    check("((a \")\"); b)", &["a·)", "b"]);
}

#[test]
fn redirections_are_told_apart() {
    check("a > b 2>c >>d", &["a >b >c >d"]);
    check("a >| b &> c &>>d", &["a >b >c >d"]);
    check("a <b >&2 2>&1 <&- >&file", &["a >file"]);
    check("> b", &[" >b"]);
    check("a <> b", &["a >b"]);
    check("a2>b", &["a2 >b"]);
    check("a 2 >b", &["a·2 >b"]);
    check("a <<< 'b c'", &["a <<\"b c\""]);
}

#[test]
fn here_documents_belong_to_their_command() {
    check("a <<X\nb c\nX\nd", &["a <<\"b c\\n\"", "d"]);
    check("a <<X | b\nc\nX\nd", &["a <<\"c\\n\"", "b |0", "d"]);
    check(
        "a <<-'X' > f\n\tb $(c)\n\tX\nd",
        &["a >f <<\"b $(c)\\n\"", "d"],
    );
    check(
        "a <<X; b <<Y\n1\nX\n2\nY",
        &["a <<\"1\\n\"", "b <<\"2\\n\""],
    );
    check("a <<X\n$(b c)\nX", &["a <<\"$(b c)\\n\"", "b·c"]);
    check("a <<X\nnever ended", &["a <<\"never ended\\n\""]);
}

#[test]
fn no_text_is_too_deep_or_too_broken() {
    for piece in [
        "(", "$(", "`", "\"$(", "{", "<(", "${", "'", "a|", "<<a\n", "\\",
    ] {
        commands(&piece.repeat(20_000));
    }
}
