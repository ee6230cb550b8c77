//! Pages of what everyone in a run has read, which are the same in every run: `docs/transcripts/`.

/// The page with these texts replaced, and without ids, times and the name of the person who runs the test.
pub fn settled(page: &str, replaced: &[(&str, &str)]) -> String {
    let replaced = replaced.iter();
    let page = replaced.fold(page.to_owned(), |page, (from, to)| page.replace(from, to));
    let lines = page.lines();
    let lines = lines.map(|line| without_accidents(&nameless(line.trim_end())));
    lines.fold(String::new(), |page, line| page + &line + "\n")
}

/// The text without the colours of a terminal.
pub fn without_colours(shown: &str) -> String {
    let mut parts = shown.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + part.split_once('m').map_or("", |(_, rest)| rest)
    })
}

pub fn fenced(text: &str) -> String {
    format!("````text\n{}\n````\n", text.trim_end())
}

/// The name of the person who runs the test is another one elsewhere.
fn nameless(line: &str) -> String {
    let ends = [" answered, in these words:", " answered."];
    let Some((before, end)) = ends
        .iter()
        .find_map(|end| Some((line.strip_suffix(end)?, end)))
    else {
        return line.to_owned();
    };
    let start = before.rfind(' ').map_or(0, |at| at + 1);
    format!("{}ada{end}", &before[..start])
}

/// Ids, hashes and times become words, and lines in which the host says how a message came go.
fn without_accidents(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let plain = words.iter().enumerate().map(|(at, word)| {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let hex = |c: char| c.is_ascii_hexdigit() || c == '-';
        let is_hex = bare.len() >= 8 && bare.chars().all(hex);
        let is_time = words
            .get(at + 1)
            .is_some_and(|unit| matches!(unit.trim_end(), "ms" | "s"));
        if is_hex && bare.contains(|c: char| c.is_ascii_digit()) {
            word.replace(bare, "ID")
        } else if is_time {
            String::from("N")
        } else {
            (*word).to_owned()
        }
    });
    plain.collect::<Vec<_>>().join(" ")
}
