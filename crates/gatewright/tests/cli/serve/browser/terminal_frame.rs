//! A frame of `gatewright watch`, as HTML with the colours of a terminal.

use std::fmt::Write as _;

use testkit::Project;
use testkit::terminal::Terminal;

use crate::fixture::PROGRAM;

/// What stands on a screen.
pub(super) struct TerminalFrame {
    pub text: String,
    /// The same, with its escape sequences.
    painted: String,
}

impl TerminalFrame {
    pub(super) fn of_watch(project: &Project) -> Self {
        let mut command = project.at_home("sh");
        command.args(["-c", &format!("exec '{PROGRAM}' watch")]);
        let terminal = Terminal::open(&command);
        terminal.resize(110, 34);
        terminal.wait_for("r-live");
        terminal.wait_for("r-demo");
        Self {
            text: terminal.screen(),
            painted: terminal.painted(),
        }
    }

    /// The frame as a page.
    pub(super) fn page(&self) -> String {
        page(&self.painted)
    }
}

/// The eight colours of a dark terminal, as most people have them.
const COLOURS: [&str; 8] = [
    "#5c6370", "#ff8a7a", "#5fd095", "#f2b75a", "#7db2ff", "#d7a1ff", "#6fd3e0", "#e4e9f0",
];

/// How the letters that follow look.
#[derive(Default)]
struct Pen {
    bold: bool,
    dim: bool,
    reversed: bool,
    colour: Option<usize>,
}

impl Pen {
    fn set(&mut self, codes: &str) {
        for code in codes.split(';') {
            match code.parse().unwrap_or(0) {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                7 => self.reversed = true,
                22 => (self.bold, self.dim) = (false, false),
                27 => self.reversed = false,
                code @ (30..=37 | 90..=97) => self.colour = Some(code % 10),
                39 => self.colour = None,
                _ => {}
            }
        }
    }

    fn style(&self) -> String {
        let ink = self.colour.map_or("#d5dbe5", |colour| COLOURS[colour]);
        let (ink, ground) = if self.reversed {
            ("#11151b", ink)
        } else {
            (ink, "none")
        };
        let weight = if self.bold { 700 } else { 400 };
        let opacity = if self.dim { 0.7 } else { 1.0 };
        format!("color:{ink};background:{ground};font-weight:{weight};opacity:{opacity}")
    }
}

fn page(frame: &str) -> String {
    let mut page =
        "<!doctype html><meta charset='utf-8'><body style='margin:0;background:#11151b'>\
        <pre style='margin:16px;font:14px/1.25 \"DejaVu Sans Mono\",monospace'>"
            .to_owned();
    let mut pen = Pen::default();
    for (place, part) in frame.split("\u{1b}[").enumerate() {
        let text = match part.split_once('m') {
            Some((codes, text)) if place > 0 => {
                pen.set(codes);
                text
            }
            _ => part,
        };
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let _ = write!(page, "<span style='{}'>{text}</span>", pen.style());
    }
    page.push_str("</pre>");
    page
}
