//! Every format of the seeds, to the letter, and with hostile text in it.

mod builtin;
mod digests;
mod hostile;
mod states;
mod templates;
mod workflows;

use engine::{Entry, Hash, Pipeline, Removed, Run, View, ViewFormat};

use crate::digest::JournalDigest;
use crate::file::{ViewContent, file};
use crate::tests::example::hash;
use crate::tests::play::Play;
use crate::view_input::ViewInput;

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
    let pipeline = &viewed(pipeline);
    let entries: Vec<(u64, &Entry)> = (1..).zip(entries).collect();
    let mut digest = JournalDigest::default();
    let log = digest.update(pipeline, &entries);
    let input = ViewInput {
        pipeline,
        run,
        digest: &digest,
        builtin: &builtin::builtin,
        entries: &entries,
        project: "/home/ann/web",
        contents: &contents,
    };
    match file(format, &input).unwrap() {
        ViewContent::Text(text) => text,
        ViewContent::Log => log,
    }
}

/// The same pipeline with every view.
fn viewed(pipeline: &Pipeline) -> Pipeline {
    let view = |format: ViewFormat| View {
        path: format.word().to_owned(),
        format,
        removed: Removed::Rendered,
        readers: engine::Readers::Owner,
    };
    let plain = ViewFormat::WORDS.into_iter().filter_map(ViewFormat::parse);
    let mut definition = pipeline.definition().clone();
    definition.views = plain.map(view).collect();
    Pipeline::from_cache(definition)
}

fn told(play: &Play, format: &ViewFormat) -> String {
    render(format, &play.pipeline, &play.run, &play.entries)
}
