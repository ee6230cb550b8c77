//! The words in the columns of a list.

use engine::{Driver, Status};
use serde_json::Value;

use super::{Record, Unreadable};

pub(crate) fn driver_to_word(driver: Driver) -> String {
    let mut word = String::new();
    driver.to_json(&mut word);
    word.trim_matches('"').to_owned()
}

pub(crate) fn driver_from_word(word: &str) -> Result<Driver, Unreadable> {
    Driver::from_json(Value::from(word))
}

/// A status as its word and, for a waiting run, the reason.
pub(crate) fn status_to_words(status: &Status) -> (&'static str, Option<&str>) {
    let reason = match status {
        Status::Waiting(reason) => Some(reason.as_str()),
        Status::Queued | Status::Running => None,
        Status::Completed | Status::Failed | Status::Cancelled => None,
    };
    (status.word(), reason)
}

pub(crate) fn status_from_words(word: &str, reason: Option<String>) -> Result<Status, Unreadable> {
    match (word, reason) {
        ("waiting", Some(reason)) => Ok(Status::Waiting(reason)),
        ("queued", None) => Ok(Status::Queued),
        ("running", None) => Ok(Status::Running),
        ("completed", None) => Ok(Status::Completed),
        ("failed", None) => Ok(Status::Failed),
        ("cancelled", None) => Ok(Status::Cancelled),
        (other, _) => Err(Unreadable::new(format!(
            "the status `{other}` is not known here"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_comes_back_as_it_was() {
        for status in [
            Status::Queued,
            Status::Running,
            Status::Waiting("an answer".to_owned()),
            Status::Completed,
            Status::Failed,
            Status::Cancelled,
        ] {
            let (word, reason) = status_to_words(&status);
            assert_eq!(
                status_from_words(word, reason.map(str::to_owned)),
                Ok(status)
            );
        }
        assert!(status_from_words("idle", None).is_err());
    }

    #[test]
    fn every_driver_comes_back_as_it_was() {
        for (driver, word) in [
            (Driver::ByHand, "by_hand"),
            (Driver::Guarded, "guarded"),
            (Driver::Headless, "headless"),
        ] {
            assert_eq!(driver_to_word(driver), word);
            assert_eq!(driver_from_word(word), Ok(driver));
        }
        assert!(driver_from_word("nobody").is_err());
    }
}
