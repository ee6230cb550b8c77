//! Repeatable random for tests, and the characters that an attacker would choose.

/// A small generator (xorshift): the same seed gives the same texts on every machine.
pub(crate) struct TestRandom(u64);

/// Characters that have broken a terminal, a diagram or a table before, beside harmless ones.
const HOSTILE: &[char] = &[
    '\u{0}',
    '\u{7}',
    '\u{8}',
    '\t',
    '\n',
    '\r',
    '\u{1b}',
    '\u{7f}',
    '\u{80}',
    '\u{85}',
    '\u{90}',
    '\u{9b}',
    '\u{9c}',
    '\u{9d}',
    '\u{9f}',
    '\u{ad}',
    '\u{61c}',
    '\u{200b}',
    '\u{200d}',
    '\u{200e}',
    '\u{2028}',
    '\u{202e}',
    '\u{2060}',
    '\u{2066}',
    '\u{2069}',
    '\u{fe0f}',
    '\u{feff}',
    '\u{e0001}',
    '\u{e0041}',
    '\u{e01ef}',
    '"',
    '\'',
    '`',
    '\\',
    '<',
    '>',
    '&',
    '#',
    ';',
    '[',
    ']',
    '{',
    '}',
    '(',
    ')',
    '|',
    '-',
    '%',
    '*',
    '_',
    '@',
    ':',
    'm',
    'P',
    '0',
    'a',
    'é',
    '漢',
    '🦀',
    ' ',
];

impl TestRandom {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    /// Up to `longest` characters, most of them hostile, some from anywhere in Unicode.
    pub(crate) fn hostile_text(&mut self, longest: usize) -> String {
        let length = self.below(longest + 1);
        (0..length).map(|_| self.hostile_char()).collect()
    }

    fn hostile_char(&mut self) -> char {
        match self.below(8) {
            0 => char::from_u32(self.below(0x11_0000) as u32).unwrap_or('x'),
            _ => HOSTILE[self.below(HOSTILE.len())],
        }
    }
}
