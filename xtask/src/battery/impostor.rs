//! Programs that stand in for the real one and break its word in one way each, to show that a battery sees it.

use std::fs;

use tempfile::TempPath;

/// How the program fails its user.
#[derive(Clone, Copy)]
pub(super) enum Impostor {
    /// Not at all: key and event are one line, written before anything is said.
    Sound,
    /// It does not look for the key.
    Forgetful,
    /// The key is written in a step of its own, before the event.
    KeyFirst,
    /// The key is written in a step of its own, after the event.
    KeyLast,
    /// It answers before it has written.
    Hasty,
    /// It answers and never writes what has a key.
    Idle,
    /// The store is damaged for a moment while it writes.
    Halting,
    /// It takes a lock that outlives it.
    Locking,
}

/// A shell script that keeps one run in a plain file, a line an entry. Everything is done inside
/// the shell, so that a kill hits the one process that writes.
const SCRIPT: &str = r#"#!/bin/sh
journal="$XDG_STATE_HOME/journal"; keys="$XDG_STATE_HOME/keys"; lock="$XDG_STATE_HOME/lock"
damage="$XDG_STATE_HOME/damage"
key=; seen=; previous=
for word in "$@"; do
    if [ "$previous" = --key ]; then key="$word"; fi
    previous="$word"
done
: >>"$journal"; : >>"$keys"
known() { while read -r line; do if [ "$line" = "$key" ]; then seen=yes; fi; done <"$1"; }
case "$1" in
trust) mkdir -p "$XDG_STATE_HOME/gatewright/trust"; echo '{"hash":"any"}' ;;
list) echo '{"runs":[{"run":"r-impostor"}]}' ;;
history)
    separator=; printf '{"entries":['
    while read -r line; do
        printf '%s{"fact":{"kind":"checkpointed","name":"%s"}}' "$separator" "$line"; separator=,
    done <"$journal"
    echo ']}' ;;
verify) if [ -s "$damage" ]; then exit 1; fi ;;
*) if [ -z "$key" ]; then echo "$1" >>"$journal"; else
"#;

impl Impostor {
    /// What it does with a command that has a key.
    fn way(self) -> &'static str {
        match self {
            Self::Sound => {
                "known \"$journal\"; [ $seen ] || echo \"$key\" >>\"$journal\"; echo done"
            }
            Self::Forgetful => {
                "echo \"$key\" >>\"$journal\"; echo \"$key\" >>\"$journal\"; echo done"
            }
            Self::KeyFirst => {
                "known \"$keys\"
                [ $seen ] || { echo \"$key\" >>\"$keys\"; echo event >>\"$journal\"; }; echo done"
            }
            Self::KeyLast => {
                "known \"$keys\"
                [ $seen ] || { echo event >>\"$journal\"; echo \"$key\" >>\"$keys\"; }; echo done"
            }
            Self::Hasty => {
                "known \"$journal\"; echo done; [ $seen ] || echo \"$key\" >>\"$journal\""
            }
            Self::Idle => "echo done",
            Self::Halting => {
                "known \"$journal\"
                [ $seen ] || { : >\"$damage\"; echo half >\"$damage\"
                echo \"$key\" >>\"$journal\"; : >\"$damage\"; }; echo done"
            }
            Self::Locking => {
                "set -C; : 2>/dev/null >\"$lock\" || exit 4; set +C
                known \"$journal\"; [ $seen ] || echo \"$key\" >>\"$journal\"; echo done
                exec rm \"$lock\""
            }
        }
    }
}

/// Writes the program; it goes when the path goes.
pub(super) fn impostor(kind: Impostor) -> TempPath {
    let script = format!("{SCRIPT}{}\nfi ;;\nesac\n", kind.way());
    let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    fs::write(&path, script).unwrap();
    testkit::make_executable(&path);
    path
}
