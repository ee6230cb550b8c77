//! Every format of the seeds, to the letter, and with hostile text in it.

mod hostile;
mod states;
mod workflows;

use engine::{Entry, Hash, Pipeline, Run, ViewFormat};

use crate::file::{Material, file};
use crate::tests::example::hash;
use crate::tests::play::Play;

/// The contents of a story: each hash is one byte over and over, and so is its text.
fn contents(hash: &Hash) -> Option<String> {
    let texts = [
        (0x00, r#"{"text":"the site has two hosts"}"#),
        (
            0x05,
            r#"{"status":"completed","deliverables":["tasks/main.yml","a handler"],"context_for_next":"tasks are there"}"#,
        ),
        (
            0x06,
            r#"{"deliverables":"tests/test_web.yml","context_for_next":{"note":1}}"#,
        ),
    ];
    let found = texts.iter().find(|(byte, _)| *hash == self::hash(*byte));
    found.map(|(_, text)| (*text).to_owned())
}

fn render(format: &ViewFormat, pipeline: &Pipeline, run: &Run, entries: &[Entry]) -> String {
    let entries: Vec<(u64, &Entry)> = (1..).zip(entries).collect();
    let material = Material {
        pipeline,
        run,
        entries: &entries,
        project: "/home/ann/web",
        contents: &contents,
    };
    file(format, &material)
}

fn told(play: &Play, format: &ViewFormat) -> String {
    render(format, &play.pipeline, &play.run, &play.entries)
}
