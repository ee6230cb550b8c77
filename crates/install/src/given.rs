//! The agents, commands and skills of a pipeline, as the host finds them: are they the pipeline's?

use language::Sources;
use runtime::failure::Failure;
use runtime::project_files::PROJECT_FOLDER;

use super::disk::BaseFolder;
use super::host::PLACES;

/// A file of the host that is not what the pipeline gives.
pub struct GivenFault {
    pub says: String,
    /// What to type.
    pub advice: String,
}

/// The path of a given file in the host's folder.
pub fn host_path(given: &str) -> String {
    format!("{}/{given}", PLACES.folder)
}

/// What is missing, and what has other content than the trusted pipeline.
pub fn faults(base: &BaseFolder, sources: &Sources) -> Result<Vec<GivenFault>, Failure> {
    let mut faults = Vec::new();
    for (given, bytes) in language::given_files(sources) {
        let path = host_path(given);
        match base.read(&path)? {
            None => faults.push(missing(&path)),
            Some(present) if present != bytes => faults.push(altered(&path, given)),
            Some(_) => {}
        }
    }
    Ok(faults)
}

fn missing(path: &str) -> GivenFault {
    GivenFault {
        says: format!("{path} is missing"),
        advice: "`gatewright init` restores it".to_owned(),
    }
}

/// A person may have meant it: then the change belongs into the pipeline, where it is trusted.
fn altered(path: &str, given: &str) -> GivenFault {
    GivenFault {
        says: format!("{path} is not what the pipeline gives"),
        advice: format!(
            "`gatewright init --force` restores it; to keep it, copy it to {PROJECT_FOLDER}/{given}, \
             then type `gatewright trust` and `gatewright init`"
        ),
    }
}
