//! Ages in one unit, coarse on purpose: a screen on which nothing happens does not change every second.

use engine::Seconds;
use views::facts::Liveness;

/// `<1m`, `12m`, `3h`, `2d`.
pub(crate) fn age(seconds: Seconds) -> String {
    match seconds.0 {
        0..60 => "<1m".to_owned(),
        60..3_600 => format!("{}m", seconds.0 / 60),
        3_600..86_400 => format!("{}h", seconds.0 / 3_600),
        86_400.. => format!("{}d", seconds.0 / 86_400),
    }
}

/// The liveness in whole minutes, in the words of every screen.
pub(crate) fn liveness_text(liveness: Liveness) -> String {
    match liveness {
        Liveness::Quiet { since, why } => {
            let since = Seconds((since.0 / 60 * 60).max(60));
            Liveness::Quiet { since, why }.text()
        }
        Liveness::Live { .. }
        | Liveness::OwnerLost { .. }
        | Liveness::Rests { .. }
        | Liveness::WaitsForYou { .. }
        | Liveness::Queued
        | Liveness::Over => liveness.text(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_one_unit() {
        for (seconds, expected) in [
            (0, "<1m"),
            (59, "<1m"),
            (60, "1m"),
            (3_599, "59m"),
            (3_600, "1h"),
            (90_000, "1d"),
        ] {
            assert_eq!(age(Seconds(seconds)), expected);
        }
    }
}
