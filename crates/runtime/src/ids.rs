//! Random ids and keys, all from the system's random numbers.

use engine::RunId;
use rustix::rand::{GetRandomFlags, getrandom};
use store::Key;

use crate::failure::Failure;

/// Digits and letters that are not confused with each other.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Short enough to type, and long enough that two runs of one store rarely get the same id; the
/// store refuses the second one.
const RUN_LETTERS: usize = 6;
const KEY_LETTERS: usize = 26;
/// 260 bits: nobody guesses it.
const ADDRESS_LETTERS: usize = 52;
/// 100 bits, for people to copy or type.
const CODE_LETTERS: usize = 20;

/// The ids of a fleet's runs begin with this, so that every machine knows where to look.
pub const FLEET_PREFIX: &str = "f-";

/// A new run's id, as `r-7f3k2m`.
pub fn run_id() -> Result<RunId, Failure> {
    let id = format!("r-{}", letters::<RUN_LETTERS>()?);
    RunId::parse(&id).map_err(|problem| Failure::bug(format!("{id} is not a run id: {problem}")))
}

/// The id of a new run that lives in a fleet, as `f-7f3k2m`.
pub fn fleet_run_id() -> Result<RunId, Failure> {
    let id = format!("{FLEET_PREFIX}{}", letters::<RUN_LETTERS>()?);
    RunId::parse(&id).map_err(|problem| Failure::bug(format!("{id} is not a run id: {problem}")))
}

/// Does this run live in a fleet?
pub fn is_of_fleet(run: &RunId) -> bool {
    run.as_str().starts_with(FLEET_PREFIX)
}

/// A key that nobody has used.
pub fn key() -> Result<Key, Failure> {
    let key = letters::<KEY_LETTERS>()?;
    Key::parse(&key).map_err(|problem| Failure::bug(format!("{key} is not a key: {problem}")))
}

/// The secret part of an address.
pub fn address_key() -> Result<String, Failure> {
    letters::<ADDRESS_LETTERS>()
}

/// A secret that a person types: `7f3k-2m9p-…`.
pub fn typed_code() -> Result<String, Failure> {
    let letters = letters::<CODE_LETTERS>()?;
    let groups = letters.as_bytes().chunks(4).map(String::from_utf8_lossy);
    Ok(groups.collect::<Vec<_>>().join("-"))
}

/// A UUID of version 4, for programs that need one.
pub fn uuid() -> Result<String, Failure> {
    let mut bytes = bytes::<16>()?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = format!("{:032x}", u128::from_be_bytes(bytes));
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    Ok(parts.join("-"))
}

fn letters<const COUNT: usize>() -> Result<String, Failure> {
    let letter = |byte: u8| char::from(LETTERS[usize::from(byte % 32)]);
    Ok(bytes::<COUNT>()?.into_iter().map(letter).collect())
}

fn bytes<const COUNT: usize>() -> Result<[u8; COUNT], Failure> {
    let mut bytes = [0; COUNT];
    let filled = getrandom(&mut bytes, GetRandomFlags::empty())
        .map_err(|cause| Failure::environment(format!("cannot read random numbers ({cause})")))?;
    if filled < COUNT {
        return Err(Failure::environment(
            "the system returned too few random numbers: retry",
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_can_be_typed() {
        let (one, other) = (run_id().unwrap(), run_id().unwrap());
        assert_ne!(one, other);
        assert!(one.as_str().starts_with("r-"));
        assert_eq!(one.as_str().len(), 2 + RUN_LETTERS);
        assert_ne!(key().unwrap(), key().unwrap());
    }

    #[test]
    fn a_typed_code_comes_in_groups_of_four() {
        let (one, other) = (typed_code().unwrap(), typed_code().unwrap());
        assert_ne!(one, other);
        let lengths: Vec<usize> = one.split('-').map(str::len).collect();
        assert_eq!(lengths, [4; 5], "{one}");
        assert_eq!(address_key().unwrap().len(), ADDRESS_LETTERS);
    }

    #[test]
    fn a_uuid_has_its_form_and_its_version() {
        let (one, other) = (uuid().unwrap(), uuid().unwrap());
        assert_ne!(one, other);
        let lengths: Vec<usize> = one.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{one}");
        assert!(
            one.as_bytes()[14] == b'4' && b"89ab".contains(&one.as_bytes()[19]),
            "{one}"
        );
    }
}
