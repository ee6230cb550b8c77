//! One HTML page with the picture in it: no script, nothing from elsewhere.

use std::fmt::Write as _;

use engine::Pipeline;

use super::{Picture, RunMarks};
use crate::html::escaped;

const STYLE: &str = "
:root { color-scheme: light dark; }
body { background: #ffffff; color: #1f2328; font: 15px/1.5 system-ui, sans-serif; margin: 12px; }
@media (prefers-color-scheme: dark) { body { background: #0d1117; color: #e6edf3; } }
h1 { font-size: 20px; margin: 0 18px; }
p { margin: 4px 18px; }
main { overflow-x: auto; }
";

/// A page that stands alone: the name, what the pipeline is for, where the run is, and the picture.
pub fn page(pipeline: &Pipeline, marks: Option<&RunMarks<'_>>) -> String {
    let definition = pipeline.definition();
    let name = escaped(definition.name.as_str());
    let mut page = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n");
    page.push_str("<meta charset=\"utf-8\">\n");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.push_str("<meta http-equiv=\"Content-Security-Policy\" ");
    page.push_str("content=\"default-src 'none'; style-src 'unsafe-inline'\">\n");
    let _ = writeln!(
        page,
        "<title>{name}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>"
    );
    let _ = writeln!(page, "<p>{}</p>", escaped(&definition.about));
    if let Some(run) = marks.map(|marks| marks.run) {
        let status = engine::status(pipeline, run);
        let _ = writeln!(
            page,
            "<p>Run <strong>{}</strong> is in <strong>{}</strong> ({}).</p>",
            escaped(run.id.as_str()),
            escaped(run.position.stage.as_str()),
            status.word()
        );
    }
    let picture = Picture::of(pipeline, marks);
    let _ = writeln!(page, "<main>\n{}</main>\n</body>\n</html>", picture.svg());
    page
}
