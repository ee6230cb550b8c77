//! The last lines: what is typed now, and which keys do something.

use views::{Style, width};

use crate::screen::{Focus, Mode, Piece, Screen, Tab};

/// What is typed, what was told, or why the store cannot be read.
pub(super) fn prompt(screen: &Screen) -> Vec<Piece> {
    let typing = |before: String, typed: &str| {
        vec![
            Piece::new(Style::Strong, format!(" {before}")),
            Piece::new(Style::Normal, format!("{}▏", views::line(typed))),
        ]
    };
    match &screen.mode {
        Mode::Filter => {
            let typed = match screen.focus {
                Focus::List => &screen.list_filter,
                Focus::Run => &screen.line_filter,
            };
            typing("/".to_owned(), typed)
        }
        Mode::Search { typed, .. } => typing("search /".to_owned(), typed),
        Mode::Command { typed } => typing(":".to_owned(), typed),
        Mode::Answer(draft) => typing(format!("answer {}: ", draft.run), &draft.typed),
        Mode::Confirm { run, typed, .. } => {
            let before = format!("the run cannot be continued; type {run} to cancel it: ");
            typing(before, typed)
        }
        Mode::Normal | Mode::Help | Mode::Reading(_) => notice(screen),
    }
}

fn notice(screen: &Screen) -> Vec<Piece> {
    match (&screen.trouble, &screen.told, &screen.runs.fleet_away) {
        (Some(trouble), _, _) => {
            let text = format!(" ! shown as last read: {}", views::line(trouble));
            vec![Piece::new(Style::Bad, text)]
        }
        (None, Some(told), _) => vec![Piece::new(told.style, format!(" {}", told.text))],
        (None, None, Some(why)) => {
            vec![Piece::new(Style::Bad, format!(" ! {}", views::line(why)))]
        }
        (None, None, None) => Vec::new(),
    }
}

/// The keys of the present mode, the most useful first, as many as fit.
pub(super) fn keys(screen: &Screen, room: u16) -> Vec<Piece> {
    let keys: &[(&str, &str)] = match (&screen.mode, screen.focus) {
        (Mode::Normal, Focus::List) if screen.is_at_question() => &[
            ("Enter", "answer"),
            ("↑↓", "move"),
            ("→", "run"),
            ("?", "help"),
            ("q", "quit"),
            ("/", "filter"),
            (":", "command"),
        ],
        (Mode::Normal, Focus::List) => &[
            ("↑↓", "move"),
            ("Enter", "run"),
            ("?", "help"),
            ("q", "quit"),
            ("/", "filter"),
            (":", "command"),
        ],
        (Mode::Normal, Focus::Run) => run_keys(screen.tab),
        (Mode::Help, _) => &[("any key", "back")],
        (Mode::Reading(_), _) => &[
            ("Esc", "back"),
            ("↑↓", "scroll"),
            ("←→", "sideways"),
            ("w", "wrap"),
            ("/", "search"),
            ("n N", "next, previous"),
        ],
        (Mode::Search { .. }, _) => &[("Enter", "search"), ("Esc", "leave")],
        (Mode::Filter, _) => &[("Enter", "keep"), ("Esc", "clear")],
        (Mode::Command { .. } | Mode::Answer(_) | Mode::Confirm { .. }, _) => {
            &[("Enter", "send"), ("Esc", "leave"), ("Ctrl-U", "clear")]
        }
    };
    fitting(keys, usize::from(room))
}

fn run_keys(tab: Tab) -> &'static [(&'static str, &'static str)] {
    match tab {
        Tab::Overview | Tab::Gates | Tab::Artifacts | Tab::Changes => &[
            ("Esc", "list"),
            ("↑↓", "move"),
            ("←→", "tab"),
            ("?", "help"),
            ("Enter", "open"),
            ("a", "answer"),
            ("/", "filter"),
            ("q", "quit"),
        ],
        Tab::Journal => &[
            ("Esc", "list"),
            ("f", "follow"),
            ("?", "help"),
            ("Enter", "why"),
            ("←→", "tab"),
            ("/", "filter"),
            ("q", "quit"),
        ],
        Tab::Output => &[
            ("Esc", "list"),
            ("f", "follow"),
            ("?", "help"),
            ("[ ]", "worker"),
            ("/", "search"),
            ("w", "wrap"),
            ("< >", "sideways"),
            ("←→", "tab"),
            ("q", "quit"),
        ],
    }
}

fn fitting(keys: &[(&str, &str)], room: usize) -> Vec<Piece> {
    let mut pieces = vec![Piece::new(Style::Normal, " ")];
    let mut used = 1;
    for (key, does) in keys {
        let columns = width(key) + 1 + width(does) + 2;
        if used + columns > room {
            break;
        }
        used += columns;
        pieces.push(Piece::new(Style::Strong, *key));
        pieces.push(Piece::new(Style::Dim, format!(" {does}  ")));
    }
    pieces
}
