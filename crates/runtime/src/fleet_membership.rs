//! The fleet that this machine has joined: one private file in the state folder.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::failure::Failure;
use crate::state::{self, State};

const FILE: &str = "fleet.json";

/// Where the address of the database is. Only the first one has the password in our file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AddressSource {
    Text {
        address: String,
    },
    /// An environment variable.
    Variable {
        variable: String,
    },
    /// A file that somebody else looks after, such as a mounted secret.
    File {
        file: PathBuf,
    },
}

/// Has this machine joined a fleet? Looks at one file, and reads nothing.
pub fn is_joined(state: &State) -> bool {
    path_of(state).exists()
}

/// What this machine is in its fleet.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetMembership {
    pub source: AddressSource,
    /// The machine's id, which no other machine has.
    pub machine: String,
    /// Its name in the fleet.
    pub name: String,
    pub labels: Vec<String>,
    /// Its user may only look, so the database does not list it.
    #[serde(default, rename = "reader", skip_serializing_if = "std::ops::Not::not")]
    pub is_reader: bool,
}

impl AddressSource {
    /// The address as it is now.
    pub fn read(&self) -> Result<String, Failure> {
        let text = match self {
            Self::Text { address } => address.clone(),
            Self::Variable { variable: name } => std::env::var(name).map_err(|_| {
                Failure::settings(format!("the variable {name} has no address"))
                    .hint(format!("set {name} to the address of the fleet's database"))
            })?,
            Self::File { file } => private_text(file)?,
        };
        Ok(text.trim().to_owned())
    }
}

impl FleetMembership {
    /// The fleet of this machine, if it has joined one.
    pub fn load(state: &State) -> Result<Option<Self>, Failure> {
        let path = path_of(state);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(Failure::file("read", &path)(cause)),
        };
        serde_json::from_str(&text).map(Some).map_err(|_| {
            Failure::store(format!("cannot read {}", path.display()))
                .hint("remove it, and join again with `gatewright fleet join`")
        })
    }

    /// Only this user can read the file.
    pub fn save(&self, state: &State) -> Result<(), Failure> {
        let path = path_of(state);
        state::write_durably(&path, &json!(self).to_string())
            .map_err(Failure::file("write to", &path))
    }

    /// Forgets the fleet.
    pub fn forget(state: &State) -> Result<(), Failure> {
        let path = path_of(state);
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                Err(Failure::file("remove", &path)(cause))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

fn path_of(state: &State) -> PathBuf {
    state.folder().join(FILE)
}

/// The text of a file that nobody else can read.
fn private_text(path: &Path) -> Result<String, Failure> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = fs::metadata(path).map_err(Failure::file("read", path))?;
    if metadata.permissions().mode() & 0o077 != 0 {
        return Err(Failure::settings(format!(
            "other users can read the address in {}",
            path.display()
        ))
        .hint(format!("run `chmod go-rwx {}`", path.display())));
    }
    fs::read_to_string(path).map_err(Failure::file("read", path))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn membership(source: AddressSource) -> FleetMembership {
        FleetMembership {
            source,
            machine: "abcd".to_owned(),
            name: "build".to_owned(),
            labels: vec!["gpu".to_owned()],
            is_reader: false,
        }
    }

    #[test]
    fn a_membership_is_kept_in_a_private_file_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        for source in [
            AddressSource::Text {
                address: "postgres://ada:x@db/team".to_owned(),
            },
            AddressSource::Variable {
                variable: "FLEET".to_owned(),
            },
            AddressSource::File {
                file: "/run/secrets/fleet".into(),
            },
        ] {
            let kept = membership(source);
            kept.save(&state).unwrap();
            assert!(FleetMembership::load(&state).unwrap() == Some(kept));
            let mode = fs::metadata(path_of(&state)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::write(path_of(&state), "{}").unwrap();
        assert!(FleetMembership::load(&state).is_err());
        FleetMembership::forget(&state).unwrap();
        FleetMembership::forget(&state).unwrap();
        assert!(FleetMembership::load(&state).unwrap().is_none());
    }

    #[test]
    fn an_address_is_not_read_from_a_file_that_others_can_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("address");
        fs::write(&path, "postgres://ada:x@db/team\n").unwrap();
        let source = AddressSource::File { file: path.clone() };
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(source.read().is_err());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(source.read().unwrap(), "postgres://ada:x@db/team");
        assert!(
            AddressSource::Variable {
                variable: "NO_SUCH_VARIABLE_HERE".to_owned()
            }
            .read()
            .is_err()
        );
    }

    #[test]
    fn stored_bytes_are_read_and_written_as_they_always_were() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let stored = |source: &str| {
            format!(r#"{{"source":{source},"machine":"abcd","name":"build","labels":["gpu"]}}"#)
        };
        for (source, expected) in [
            (
                r#"{"address":"postgres://db/team"}"#,
                AddressSource::Text {
                    address: "postgres://db/team".to_owned(),
                },
            ),
            (
                r#"{"variable":"FLEET"}"#,
                AddressSource::Variable {
                    variable: "FLEET".to_owned(),
                },
            ),
            (
                r#"{"file":"/run/secrets/fleet"}"#,
                AddressSource::File {
                    file: "/run/secrets/fleet".into(),
                },
            ),
        ] {
            fs::write(path_of(&state), stored(source)).unwrap();
            let read = FleetMembership::load(&state).unwrap().unwrap();
            assert!(read == membership(expected), "{source}");
            read.save(&state).unwrap();
            let written = fs::read_to_string(path_of(&state)).unwrap();
            assert_eq!(written, stored(source));
        }
        let reader = r#"{"source":{"variable":"FLEET"},"machine":"abcd","name":"build","labels":[],"reader":true}"#;
        fs::write(path_of(&state), reader).unwrap();
        let read = FleetMembership::load(&state).unwrap().unwrap();
        assert!(read.is_reader);
        read.save(&state).unwrap();
        assert_eq!(fs::read_to_string(path_of(&state)).unwrap(), reader);
        // A later version may say more.
        let more = r#"{"source":{"variable":"FLEET","more":1},"machine":"abcd","name":"build","labels":["gpu"],"more":1}"#;
        fs::write(path_of(&state), more).unwrap();
        assert!(FleetMembership::load(&state).unwrap().is_some());
        for damaged in [
            "",
            "null",
            "[]",
            r#"{"source":{},"machine":"a","name":"b","labels":[]}"#,
            r#"{"source":{"variable":"F"},"name":"b","labels":[]}"#,
            r#"{"source":{"variable":"F"},"machine":"a","name":"b","labels":[1]}"#,
            r#"{"source":{"variable":"F"},"machine":"a","name":"b"}"#,
        ] {
            fs::write(path_of(&state), damaged).unwrap();
            assert!(FleetMembership::load(&state).is_err(), "{damaged}");
        }
    }
}
