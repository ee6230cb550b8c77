//! Orchestrators that stand in for the real one and break its word in one way each, to show that a battery
//! sees it.

use std::fs;

use tempfile::TempPath;

/// How the program fails its user.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pretender {
    /// Not at all: it goes on where it was, after it has ended what was left.
    Sound,
    /// It goes on beside what was left.
    Orphaning,
    /// It has finished work done again.
    Repeating,
    /// It has finished work done again, and says so.
    Doubling,
    /// It never goes on.
    Refusing,
    /// It leaves a record of what was interrupted behind.
    Littering,
    /// It does not look whether somebody else has taken over.
    Usurping,
    /// It sees that somebody has taken over, and ends as if all were well.
    Silent,
}

/// A shell script that has two agents work, one after the other, and keeps a plain file with a fact a
/// line. What differs by kind are the functions before it.
const SCRIPT: &str = r#"
state="$XDG_STATE_HOME/gatewright"; mkdir -p "$state/working"
journal="$state/journal"; lease="$state/lease"; : >>"$journal"
is_alive() { read -r _ _ how _ 2>/dev/null <"/proc/$1/stat" && [ "$how" != T ] && [ "$how" != Z ]; }
is_lost() { read -r holder <"$lease"; [ "$holder" != $$ ]; }
has_ended() { grep -q "\"ended\",\"dispatch\":\"$1\"" "$journal"; }
end_marked() {
    for found in $(grep -lzx "GATEWRIGHT_CALL=$1" /proc/[0-9]*/environ 2>/dev/null); do
        process="${found#/proc/}"; kill -s KILL "${process%/environ}" 2>/dev/null
    done
}
work() {
    call="step-$1-$run"; : >"$state/working/$call"
    echo "{\"kind\":\"admitted\",\"dispatch\":\"$1\",\"call\":\"$call\",\"stage\":\"$1\",\"agent\":\"$2\"}" >>"$journal"
    ends_old && end_marked "$call"
    AI_AGENT=gatewright GATEWRIGHT_RUN="$run" GATEWRIGHT_STAGE="$1" GATEWRIGHT_AGENT="$2" \
        GATEWRIGHT_CALL="$call" setsid "$(cat "$state/stand-in")" </dev/null >/dev/null 2>&1 &
    wait $!
    if is_lost; then lost; fi
    if told || ! has_ended "$1"; then
        echo "{\"kind\":\"ended\",\"dispatch\":\"$1\",\"result\":{\"kind\":\"outcome\",\"outcome\":\"done\"}}" >>"$journal"
    fi
    rm -f "$state/working/$call"
}
drive() {
    if read -r holder 2>/dev/null <"$lease" && is_alive "$holder"; then
        echo "another gatewright ($holder) drives it" >&2; exit 1
    fi
    echo $$ >"$lease"
    if again || ! has_ended planning; then work planning planner; fi
    has_ended mending || work mending mender
}
case "$1" in
trust) echo '{"hash":"any"}' ;;
run)
    run="$6"; echo "$8" >"$state/stand-in"
    drive ;;
resume)
    run="$2"; goes_on || exit 1
    drive
    tidy || echo '{}' >"$state/working/step-old.json"; exit 0 ;;
status) [ -s "$journal" ] || exit 1; echo '{"status":"driven","artifacts":[]}' ;;
history)
    separator=; printf '{"entries":['
    while read -r line; do printf '%s{"fact":%s}' "$separator" "$line"; separator=,; done <"$journal"
    echo ']}' ;;
recover) echo '{"runs":[{"driver":null,"left":[]}]}' ;;
esac
"#;

impl Pretender {
    /// What it does where it may differ from others.
    fn ways(self) -> String {
        let way = |name: &str, sound: bool| {
            let word = if sound { "true" } else { "false" };
            format!("{name}() {{ {word}; }}\n")
        };
        let lost = match self {
            Self::Usurping => "lost() { :; }\n",
            Self::Silent => "lost() { exit 0; }\n",
            _ => "lost() { echo 'another gatewright drives it now' >&2; exit 1; }\n",
        };
        let again = matches!(self, Self::Repeating | Self::Doubling);
        [
            way("ends_old", self != Self::Orphaning),
            way("again", again),
            // Who has lost its lease and does not know tells what it did, too.
            way("told", matches!(self, Self::Doubling | Self::Usurping)),
            way("tidy", self != Self::Littering),
            way("goes_on", self != Self::Refusing),
            lost.to_owned(),
        ]
        .concat()
    }
}

/// Writes the program; it goes when the path goes.
pub(super) fn pretender(kind: Pretender) -> TempPath {
    let script = format!("#!/bin/sh\n{}{SCRIPT}", kind.ways());
    let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    fs::write(&path, script).unwrap();
    testkit::make_executable(&path);
    path
}
