//! How wide text is in a picture: an upper estimate, because nobody asks the reader's fonts.

use unicode_width::UnicodeWidthChar;

/// The weight of a text, and so how wide its letters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Normal,
    Bold,
}

/// The width in pixels at this size, as in a wide font (DejaVu Sans); others are narrower.
pub(crate) fn text_width(text: &str, size: i32, weight: Weight) -> i32 {
    let thousandths: i32 = text.chars().map(character).sum();
    let pixels = (thousandths.saturating_mul(size)).saturating_add(999) / 1000;
    match weight {
        Weight::Normal => pixels,
        Weight::Bold => pixels + pixels / 9,
    }
}

/// Thousandths of the font's size.
fn character(found: char) -> i32 {
    match found {
        'i' | 'j' | 'l' | '\'' | '.' | ',' | ':' | ';' | '|' | '!' | ' ' | '·' => 340,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' | '"' => 430,
        'm' | 'M' | 'W' | '@' | '%' | '…' => 1000,
        'w' | '≤' | '+' | '=' | '<' | '>' => 850,
        'A'..='Z' => 740,
        's' | 'c' | 'z' | '_' => 560,
        'k' | 'v' | 'x' | 'y' => 600,
        'a'..='z' | '0'..='9' | '?' | '$' | '*' => 640,
        other => other.width().map_or(700, |columns| match columns {
            0 => 0,
            1 => 900,
            _ => 1100,
        }),
    }
}

/// As much of the text as fits, marked with `…` where something is missing.
pub(crate) fn fitted(text: &str, size: i32, weight: Weight, room: i32) -> String {
    if text_width(text, size, weight) <= room {
        return text.to_owned();
    }
    let mut cut = String::new();
    for found in text.chars() {
        cut.push(found);
        if text_width(&format!("{cut}…"), size, weight) > room {
            cut.pop();
            break;
        }
    }
    format!("{}…", cut.trim_end())
}

/// The text in lines that fit, at most so many; the last one is marked where something is missing.
pub(crate) fn folded_lines(text: &str, size: i32, room: i32, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let is_last = lines.len() == most;
        match lines.last_mut() {
            Some(line) if is_last || fits(line, word, size, room) => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    let lines = lines.into_iter();
    lines
        .map(|line| fitted(&line, size, Weight::Normal, room))
        .collect()
}

fn fits(line: &str, word: &str, size: i32, room: i32) -> bool {
    text_width(&format!("{line} {word}"), size, Weight::Normal) <= room
}
