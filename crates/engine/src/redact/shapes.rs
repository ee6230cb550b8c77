//! The tokens of well-known services: how each begins, and what follows. One row for each shape.

/// The characters of a token after its start.
#[derive(Clone, Copy)]
enum Alphabet {
    Hexadecimal,
    /// Capital letters and digits.
    Capitals,
    Alphanumeric,
    /// Letters, digits, `-` and `_`.
    Url,
    /// The same with dots and equals signs.
    Dotted,
    /// As `Url`, and at least 16 letters and digits in a row: names of several words do not have them.
    Unbroken,
}

struct Shape {
    start: &'static str,
    /// How many characters of the alphabet follow, at least and at most.
    least: usize,
    most: usize,
    alphabet: Alphabet,
}

const fn shape(start: &'static str, least: usize, alphabet: Alphabet) -> Shape {
    Shape {
        start,
        least,
        most: usize::MAX,
        alphabet,
    }
}

const fn exact(start: &'static str, length: usize, alphabet: Alphabet) -> Shape {
    Shape {
        start,
        least: length,
        most: length,
        alphabet,
    }
}

use Alphabet::{Alphanumeric, Capitals, Dotted, Hexadecimal, Unbroken, Url};

const SHAPES: [Shape; 92] = [
    // Amazon
    exact("AKIA", 16, Capitals),
    exact("ASIA", 16, Capitals),
    exact("ABIA", 16, Capitals),
    exact("ACCA", 16, Capitals),
    // GitHub
    shape("ghp_", 30, Alphanumeric),
    shape("gho_", 30, Alphanumeric),
    shape("ghu_", 30, Alphanumeric),
    shape("ghs_", 30, Alphanumeric),
    shape("ghr_", 30, Alphanumeric),
    shape("github_pat_", 30, Url),
    // GitLab
    shape("glpat-", 18, Dotted),
    shape("gldt-", 18, Url),
    shape("glrt-", 18, Url),
    shape("glcbt-", 18, Url),
    shape("glptt-", 18, Url),
    shape("glft-", 18, Url),
    shape("glsoat-", 18, Url),
    shape("glagent-", 30, Url),
    shape("gloas-", 30, Url),
    // Slack
    shape("xoxa-", 20, Url),
    shape("xoxb-", 20, Url),
    shape("xoxe-", 20, Url),
    shape("xoxe.", 20, Url),
    shape("xoxp-", 20, Url),
    shape("xoxr-", 20, Url),
    shape("xoxs-", 20, Url),
    shape("xapp-", 20, Url),
    // Stripe
    shape("sk_live_", 16, Alphanumeric),
    shape("rk_live_", 16, Alphanumeric),
    shape("sk_test_", 16, Alphanumeric),
    shape("rk_test_", 16, Alphanumeric),
    shape("whsec_", 24, Dotted),
    // Google
    shape("AIza", 30, Url),
    shape("ya29.", 30, Dotted),
    shape("GOCSPX-", 24, Url),
    // Models
    shape("sk-", 20, Unbroken),
    shape("sk-ant-", 20, Url),
    shape("sk-proj-", 20, Url),
    shape("hf_", 30, Alphanumeric),
    shape("gsk_", 40, Alphanumeric),
    shape("r8_", 30, Alphanumeric),
    shape("xai-", 60, Alphanumeric),
    shape("pplx-", 40, Alphanumeric),
    shape("nvapi-", 50, Url),
    shape("tvly-", 24, Unbroken),
    // Packages
    shape("npm_", 30, Alphanumeric),
    shape("pypi-", 50, Url),
    shape("rubygems_", 40, Hexadecimal),
    exact("cio", 32, Alphanumeric),
    shape("dckr_pat_", 20, Url),
    exact("oy2", 43, Alphanumeric),
    // Vaults and clouds
    shape("hvs.", 24, Url),
    shape("hvb.", 24, Url),
    shape("hvr.", 24, Url),
    shape("dp.pt.", 40, Alphanumeric),
    shape("dp.st.", 40, Dotted),
    shape("ops_eyJ", 40, Dotted),
    shape("dop_v1_", 60, Hexadecimal),
    shape("doo_v1_", 60, Hexadecimal),
    shape("dor_v1_", 60, Hexadecimal),
    shape("pul-", 40, Hexadecimal),
    shape("dapi", 32, Hexadecimal),
    shape("sbp_", 40, Hexadecimal),
    shape("sb_secret_", 20, Url),
    exact("LTAI", 20, Alphanumeric),
    shape("tskey-", 20, Url),
    shape("AGE-SECRET-KEY-1", 50, Capitals),
    // Mail and messages
    shape("SG.", 40, Dotted),
    shape("xkeysib-", 60, Url),
    exact("SK", 32, Hexadecimal),
    // Shops and payments
    shape("shpat_", 32, Hexadecimal),
    shape("shpca_", 32, Hexadecimal),
    shape("shppa_", 32, Hexadecimal),
    shape("shpss_", 32, Hexadecimal),
    shape("sq0atp-", 20, Url),
    shape("sq0csp-", 40, Url),
    shape("EZAK", 50, Alphanumeric),
    shape("EZTK", 50, Alphanumeric),
    // Tools of teams
    shape("lin_api_", 36, Alphanumeric),
    shape("ntn_", 40, Alphanumeric),
    shape("figd_", 36, Url),
    shape("ATATT3", 60, Dotted),
    shape("ATCTT3", 60, Dotted),
    shape("NRAK-", 24, Capitals),
    shape("PMAK-", 40, Url),
    shape("sntrys_", 40, Dotted),
    shape("sntryu_", 40, Hexadecimal),
    shape("glsa_", 32, Url),
    shape("glc_", 32, Dotted),
    shape("bkua_", 36, Hexadecimal),
    shape("CCIPAT_", 40, Url),
    // Any signed token
    shape("eyJ", 40, Dotted),
];

/// Where a URL continues with a secret.
pub(super) const SECRET_URLS: [&str; 4] = [
    "hooks.slack.com/services/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "api.telegram.org/bot",
];

/// Is this word a token, or a name with a token, as in `key=sk-…`?
pub(super) fn is_token(word: &str) -> bool {
    SHAPES.iter().any(|shape| {
        let mut parts = word.split('=');
        parts.any(|part| {
            let tail = part.strip_prefix(shape.start);
            tail.is_some_and(|tail| shape.continues(tail.as_bytes()))
        })
    })
}

impl Shape {
    fn continues(&self, tail: &[u8]) -> bool {
        let end = tail.iter().position(|byte| !self.alphabet.has(*byte));
        let tail = &tail[..end.unwrap_or(tail.len())];
        (self.least..=self.most).contains(&tail.len())
            && tail.iter().any(u8::is_ascii_digit)
            && (!matches!(self.alphabet, Unbroken) || is_unbroken(tail))
    }
}

impl Alphabet {
    fn has(self, byte: u8) -> bool {
        match self {
            Hexadecimal => byte.is_ascii_hexdigit(),
            Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Alphanumeric => byte.is_ascii_alphanumeric(),
            Url | Unbroken => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
            Dotted => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'=' | b'+')
            }
        }
    }
}

fn is_unbroken(tail: &[u8]) -> bool {
    let mut runs = tail.split(|byte| matches!(byte, b'-' | b'_'));
    runs.any(|run| run.len() >= 16)
}
