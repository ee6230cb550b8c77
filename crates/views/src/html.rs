//! HTML in which outside text is never markup.

use crate::safe::{line, safe};

/// One line in which nothing is markup.
pub(crate) fn escaped(text: &str) -> String {
    without_markup(&line(text))
}

/// The same with its newlines and tabs.
pub(crate) fn escaped_block(text: &str) -> String {
    without_markup(&safe(text))
}

fn without_markup(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_random::TestRandom;

    #[test]
    fn no_text_can_become_markup() {
        let mut random = TestRandom::new(31);
        for _ in 0..5_000 {
            let text = escaped(&random.hostile_text(40));
            assert!(!text.contains(['<', '>', '"', '\'', '\n']), "{text:?}");
            let block = escaped_block(&random.hostile_text(40));
            assert!(
                !block.contains(['<', '>', '"', '\'', '\u{1b}']),
                "{block:?}"
            );
        }
        assert_eq!(escaped("<b>&'\""), "&lt;b&gt;&amp;&#39;&quot;");
    }
}
