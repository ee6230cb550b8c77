//! HTML in which outside text is never markup.

use crate::safe::line;

/// One line in which nothing is markup.
pub(crate) fn escaped(text: &str) -> String {
    line(text)
        .replace('&', "&amp;")
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
        }
        assert_eq!(escaped("<b>&'\""), "&lt;b&gt;&amp;&#39;&quot;");
    }
}
