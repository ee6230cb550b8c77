//! Bytes from a terminal as keys, clicks and turns of the wheel.

use crate::event::{Event, Key, Spot, Turning};

/// The events of these bytes, and how many bytes belong to them. What is left is the beginning of one.
pub(crate) fn events(bytes: &[u8]) -> (Vec<Event>, usize) {
    let mut events = Vec::new();
    let mut used = 0;
    while let Some(rest) = bytes.get(used..).filter(|rest| !rest.is_empty()) {
        match first(rest) {
            Parsed::Event(event, length) => {
                events.push(event);
                used += length;
            }
            Parsed::Nothing(length) => used += length,
            Parsed::Unfinished => break,
        }
    }
    (events, used)
}

enum Parsed {
    Event(Event, usize),
    /// This many bytes that mean nothing here.
    Nothing(usize),
    Unfinished,
}

fn first(bytes: &[u8]) -> Parsed {
    let key = |key| Parsed::Event(Event::Key(key), 1);
    match bytes {
        [0x1b, b'[', rest @ ..] => sequence(rest),
        [0x1b, b'O', letter, ..] => match arrow(*letter) {
            Some(found) => Parsed::Event(Event::Key(found), 3),
            None => Parsed::Nothing(3),
        },
        [0x1b, b'O'] | [] => Parsed::Unfinished,
        [0x1b, ..] => key(Key::Escape),
        [b'\r' | b'\n', ..] => key(Key::Enter),
        [b'\t', ..] => key(Key::Tab),
        [0x7f | 0x08, ..] => key(Key::Backspace),
        [0x03, ..] => key(Key::Interrupt),
        [0x15, ..] => key(Key::Clear),
        [0x00..=0x1f, ..] => Parsed::Nothing(1),
        text => letter(text),
    }
}

/// A letter in UTF-8.
fn letter(bytes: &[u8]) -> Parsed {
    let length = match bytes.first() {
        Some(0xc0..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf7) => 4,
        Some(_) | None => 1,
    };
    let Some(letter) = bytes.get(..length) else {
        return Parsed::Unfinished;
    };
    let text = str::from_utf8(letter).unwrap_or_default();
    match text.chars().next() {
        Some(letter) if !views::is_forbidden(letter) => {
            Parsed::Event(Event::Key(Key::Char(letter)), length)
        }
        Some(_) => Parsed::Nothing(length),
        None => Parsed::Nothing(1),
    }
}

/// What follows `ESC [`: numbers and signs, then a letter.
fn sequence(bytes: &[u8]) -> Parsed {
    let is_final = |byte: &u8| (0x40..=0x7e).contains(byte);
    let Some(end) = bytes.iter().position(is_final) else {
        // Longer ones exist nowhere: then it is not a sequence.
        return match bytes.len() {
            0..32 => Parsed::Unfinished,
            length => Parsed::Nothing(2 + length),
        };
    };
    let length = 2 + end + 1;
    let inner = &bytes[..end];
    let event = match (inner, bytes[end]) {
        ([b'<', mouse @ ..], b'M') => mouse_event(mouse),
        (b"1" | b"7", b'~') => Some(Event::Key(Key::Home)),
        (b"4" | b"8", b'~') => Some(Event::Key(Key::End)),
        (b"5", b'~') => Some(Event::Key(Key::PageUp)),
        (b"6", b'~') => Some(Event::Key(Key::PageDown)),
        ([], b'Z') => Some(Event::Key(Key::BackTab)),
        ([], letter) => arrow(letter).map(Event::Key),
        _ => None,
    };
    match event {
        Some(event) => Parsed::Event(event, length),
        None => Parsed::Nothing(length),
    }
}

fn arrow(letter: u8) -> Option<Key> {
    match letter {
        b'A' => Some(Key::Up),
        b'B' => Some(Key::Down),
        b'C' => Some(Key::Right),
        b'D' => Some(Key::Left),
        b'H' => Some(Key::Home),
        b'F' => Some(Key::End),
        _ => None,
    }
}

/// `0;12;5`: the button, the column and the row, from 1.
fn mouse_event(bytes: &[u8]) -> Option<Event> {
    let text = str::from_utf8(bytes).ok()?;
    let mut numbers = text.split(';').map(str::parse::<u16>);
    let (button, column, row) = (numbers.next()?, numbers.next()?, numbers.next()?);
    let spot = Spot {
        column: column.ok()?.checked_sub(1)?,
        row: row.ok()?.checked_sub(1)?,
    };
    match button.ok()? {
        0 => Some(Event::Click(spot)),
        64 => Some(Event::Wheel(Turning::Up)),
        65 => Some(Event::Wheel(Turning::Down)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(event: &Event) -> String {
        match event {
            Event::Key(key) => format!("{key:?}"),
            Event::Click(spot) => format!("click {} {}", spot.column, spot.row),
            Event::Wheel(turning) => format!("wheel {turning:?}"),
            Event::Resized(_)
            | Event::Clock(_)
            | Event::Runs(_)
            | Event::Run(_)
            | Event::Opened(_)
            | Event::Notice(_)
            | Event::Trouble(_) => "other".to_owned(),
        }
    }

    #[test]
    fn bytes_become_keys_and_clicks() {
        for (bytes, expected, left) in [
            (&b"q"[..], "Char('q')", 0),
            (b"\x1b[A\x1b[6~", "Up PageDown", 0),
            (b"\x1bOB", "Down", 0),
            (b"\x1b", "Escape", 0),
            (b"\x1b[", "", 2),
            (b"\x1b[<0;12;5M\x1b[<0;12;5m", "click 11 4", 0),
            (b"\x1b[<64;1;1M\x1b[<65;1;1M", "wheel Up wheel Down", 0),
            (b"\x1b[<0;0;0M", "", 0),
            ("ä漢".as_bytes(), "Char('ä') Char('漢')", 0),
            (&"漢".as_bytes()[..2], "", 2),
            (
                b"\xff\x01a\r\x7f\t\x03\x15",
                "Char('a') Enter Backspace Tab Interrupt Clear",
                0,
            ),
            (b"\x1b[200~x\x1b[201~", "Char('x')", 0),
        ] {
            let (events, used) = events(bytes);
            let text: Vec<String> = events.iter().map(shown).collect();
            assert_eq!(text.join(" "), expected, "{bytes:?}");
            assert_eq!(bytes.len() - used, left, "{bytes:?}");
        }
    }

    #[test]
    fn no_bytes_stop_it() {
        let mut state = 7u32;
        for _ in 0..2_000 {
            let bytes: Vec<u8> = (0..40)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 24) as u8
                })
                .collect();
            let (_, used) = events(&bytes);
            assert!(used <= bytes.len());
        }
    }
}
