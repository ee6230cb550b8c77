//! The part of Markdown that our own pages use, as HTML. What it does not know stays text.

use maud::{Markup, PreEscaped, html};

/// How the address of a picture begins that the page carries itself.
pub(crate) const PICTURE: &str = "data:image/svg+xml,";

/// Turns a link's target into an address, or into nothing: then only its text is shown.
pub(crate) type Resolve<'a> = dyn Fn(&str) -> Option<String> + 'a;

pub(crate) fn markup(text: &str, resolve: &Resolve<'_>) -> Markup {
    let mut lines = text.lines().peekable();
    let mut blocks = Vec::new();
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with("```") {
            // A fence that stands further in belongs to the code.
            let end = format!("{}```", &line[..indent(line)]);
            let code = lines.by_ref().take_while(|line| !line.starts_with(&end));
            blocks.push(code_block(&code.collect::<Vec<_>>()));
        } else if let Some((level, title)) = heading(line) {
            blocks.push(heading_block(level, title, resolve));
        } else if line.starts_with('|') {
            let mut rows = vec![line];
            while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
                rows.push(row);
            }
            blocks.push(table(&rows, resolve));
        } else if item(line).is_some() {
            let mut items = vec![item(line).unwrap_or_default().to_owned()];
            while let Some(next) = lines.next_if(|line| item(line).is_some() || is_continued(line))
            {
                match item(next) {
                    Some(item) => items.push(item.to_owned()),
                    None => append(items.last_mut(), next),
                }
            }
            blocks.push(list(line, &items, resolve));
        } else if !line.trim().is_empty() {
            let mut text = line.to_owned();
            while let Some(next) = lines.next_if(|line| is_plain(line)) {
                append(Some(&mut text), next);
            }
            blocks.push(html! { p { (inline(&text, resolve)) } });
        }
    }
    html! { @for block in &blocks { (block) } }
}

/// A list; a number begins one that counts.
fn list(first: &str, items: &[String], resolve: &Resolve<'_>) -> Markup {
    let items = html! { @for item in items { li { (inline(item, resolve)) } } };
    let is_counted = first.trim_start().starts_with(|c: char| c.is_ascii_digit());
    if is_counted {
        html! { ol { (items) } }
    } else {
        html! { ul { (items) } }
    }
}

fn append(text: Option<&mut String>, line: &str) {
    if let Some(text) = text {
        text.push(' ');
        text.push_str(line.trim());
    }
}

fn is_plain(line: &str) -> bool {
    !line.trim().is_empty()
        && !line.starts_with('|')
        && !line.trim_start().starts_with("```")
        && heading(line).is_none()
        && item(line).is_none()
}

fn is_continued(line: &str) -> bool {
    line.starts_with("  ") && is_plain(line)
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    (1..=4).contains(&level).then_some(())?;
    Some((level, title.strip_prefix(' ')?))
}

/// How many bytes of white space the line begins with.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let bullet = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    let (number, rest) = line.split_once(". ").unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    bullet.or(is_number.then_some(rest))
}

fn heading_block(level: usize, title: &str, resolve: &Resolve<'_>) -> Markup {
    let content = inline(title, resolve);
    let slug: String = title.to_lowercase().replace(' ', "-");
    let slug: String = slug
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == '-')
        .collect();
    html! { @match level {
        1 => { h1 id=(slug) { (content) } },
        2 => { h2 id=(slug) { (content) } },
        3 => { h3 id=(slug) { (content) } },
        _ => { h4 id=(slug) { (content) } },
    } }
}

fn code_block(lines: &[&str]) -> Markup {
    html! { pre.output { (lines.join("\n")) } }
}

fn table(rows: &[&str], resolve: &Resolve<'_>) -> Markup {
    let cells = |row: &str| -> Vec<String> {
        let row = row.trim().trim_start_matches('|').trim_end_matches('|');
        let row = row.replace("\\|", "\u{1}");
        row.split('|')
            .map(|cell| cell.trim().replace('\u{1}', "|"))
            .collect()
    };
    let is_rule = |row: &&&str| row.chars().all(|c| "|-: ".contains(c));
    let head = rows.first().map(|row| cells(row)).unwrap_or_default();
    html! {
        table {
            thead { tr { @for cell in &head { th { (inline(cell, resolve)) } } } }
            tbody { @for row in rows.iter().skip(1).filter(|row| !is_rule(row)) {
                tr { @for cell in cells(row) { td { (inline(&cell, resolve)) } } }
            } }
        }
    }
}

/// Code, strong words and links in a line.
fn inline(text: &str, resolve: &Resolve<'_>) -> Markup {
    let mut html = String::new();
    let mut rest = text;
    while let Some(place) = rest.find(['`', '*', '[', '!']) {
        let (before, from) = rest.split_at(place);
        html.push_str(&escaped(before));
        let (piece, after) = piece(from, resolve);
        html.push_str(&piece.0);
        rest = after;
    }
    html.push_str(&escaped(rest));
    PreEscaped(html)
}

fn escaped(text: &str) -> String {
    html! { (text) }.into_string()
}

/// What begins here, and what comes behind it.
fn piece<'t>(from: &'t str, resolve: &Resolve<'_>) -> (Markup, &'t str) {
    if let Some((code, after)) = enclosed(from, "`", "`") {
        return (html! { code { (code) } }, after);
    }
    if let Some((strong, after)) = enclosed(from, "**", "**") {
        return (html! { strong { (inline(strong, resolve)) } }, after);
    }
    if let Some((words, after)) = enclosed(from, "*", "*")
        && words.trim() == words
    {
        return (html! { em { (inline(words, resolve)) } }, after);
    }
    if let Some((words, after)) = enclosed(from, "![", "](")
        && let Some((target, behind)) = after.split_once(')')
    {
        return (picture(words, target, resolve), behind);
    }
    if let Some((words, after)) = enclosed(from, "[", "](")
        && let Some((target, behind)) = after.split_once(')')
    {
        let content = inline(words, resolve);
        let link = match resolve(target) {
            Some(address) => html! { a href=(address) { (content) } },
            None => content,
        };
        return (link, behind);
    }
    let first = from.chars().next().map_or(0, char::len_utf8);
    let (sign, after) = from.split_at(first);
    (html! { (sign) }, after)
}

/// A picture that the page carries, or the words for it.
fn picture(words: &str, target: &str, resolve: &Resolve<'_>) -> Markup {
    match resolve(target).filter(|address| address.starts_with(PICTURE)) {
        Some(address) => html! { img src=(address) alt=(words) width="100%"; },
        None => html! { (words) },
    }
}

fn enclosed<'t>(text: &'t str, open: &str, close: &str) -> Option<(&'t str, &'t str)> {
    let inside = text.strip_prefix(open)?;
    let (inside, after) = inside.split_once(close)?;
    (!inside.is_empty()).then_some((inside, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let resolve = |target: &str| {
            let is_known = target.starts_with("https://") || target.starts_with(PICTURE);
            is_known.then(|| target.to_owned())
        };
        markup(text, &resolve).into_string()
    }

    #[test]
    fn what_our_pages_use_becomes_html() {
        for (text, expected) in [
            ("# A `b`", "<h1 id=\"a-b\">A <code>b</code></h1>"),
            ("one\ntwo\n\nthree", "<p>one two</p><p>three</p>"),
            (
                "- a\n  more\n- **b**",
                "<ul><li>a more</li><li><strong>b</strong></li></ul>",
            ),
            ("```sh\na < b\n```", "<pre class=\"output\">a &lt; b</pre>"),
            (
                "```text\na\n    ```\nb\n```",
                "<pre class=\"output\">a\n    ```\nb</pre>",
            ),
            ("[x](https://e)", "<p><a href=\"https://e\">x</a></p>"),
            ("[x](javascript:e)", "<p>x</p>"),
            ("a * b [c] `d! *", "<p>a * b [c] `d! *</p>"),
            ("1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"),
            (
                "**`a`** *b*",
                "<p><strong><code>a</code></strong> <em>b</em></p>",
            ),
            (
                "![x](data:image/svg+xml,y)",
                "<p><img src=\"data:image/svg+xml,y\" alt=\"x\" width=\"100%\"></p>",
            ),
            ("![x](https://e/y.svg)", "<p>x</p>"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
        let table = shown("| a | b |\n| --- | --- |\n| `x\\|y` | 2 |");
        assert!(
            table.contains("<td><code>x|y</code></td><td>2</td>"),
            "{table}"
        );
    }

    #[test]
    fn nothing_else_becomes_markup() {
        let shown = shown("<script>x</script> `<b>` [<i>](https://\"onclick=) **<u>**");
        assert!(
            !shown.contains("<script") && !shown.contains("<b>"),
            "{shown}"
        );
        assert!(!shown.contains("<i>") && !shown.contains("<u>"), "{shown}");
        assert!(!shown.contains("\"onclick"), "{shown}");
    }
}
