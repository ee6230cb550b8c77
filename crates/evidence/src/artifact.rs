//! Artifacts: read within limits, redacted, hashed, and checked against the definition.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use engine::{
    Artifact, ArtifactName, ArtifactNeed, Definition, FieldOf, Format, Input, OutcomeField, Run,
    Seen, Source, Stage, Time, Work,
};
use rustix::fs::Stat;
use serde_json::{Value, json};

use crate::beneath::{self, Refused};
use crate::content::Content;
use crate::error::Error;
use crate::look_context::{GivenArtifact, LookContext};
use crate::path::{InsidePath, artifact_path};
use crate::placeholder::PlaceholderValues;
use crate::redaction::redact_document;
use crate::{bundle, check, document, questions, schema, steps, text};

/// The longest word that can be a verdict.
const LONGEST_WORD: usize = 100;

/// The rest of a long reason is in the artifact.
const LONGEST_REASON: usize = 1_000;

/// What was seen of one artifact, and the bytes of its hash.
pub struct ArtifactLook {
    pub seen: Seen,
    pub content: Option<Content>,
    /// When its file was last written.
    pub written: Option<Time>,
    /// The commands in it that a check may run.
    pub commands: Vec<Vec<String>>,
    /// Why its worker failed, in its own words.
    pub reason: Option<String>,
    /// Fields without the list that a stage takes from them, each with what to write.
    pub unlisted: BTreeMap<String, String>,
}

impl ArtifactLook {
    fn without_commands(seen: Seen, content: Option<Content>) -> Self {
        Self {
            seen,
            content,
            written: None,
            commands: Vec::new(),
            reason: None,
            unlisted: BTreeMap::new(),
        }
    }
}

/// Reads one artifact from its source.
pub fn look(need: &ArtifactNeed, looking: &LookContext<'_>) -> Result<ArtifactLook, Error> {
    let name = &need.artifact;
    let declared = looking.pipeline.definition().artifacts.get(name);
    let artifact = declared.ok_or_else(|| Error::UnknownArtifact {
        artifact: name.clone(),
    })?;
    let found = match (looking.given.get(name), &artifact.source) {
        (Some(GivenArtifact::Bytes(bytes)), _) => within(bytes.clone(), artifact),
        (Some(GivenArtifact::File(path)), _) => read_given(path, artifact)?,
        (None, Source::File(path)) => read(path, need, artifact, looking)?,
        // An empty reply leaves nothing.
        (None, Source::Reply) => match looking.reply.filter(|reply| !reply.trim().is_empty()) {
            Some(reply) => within(reply_bytes(reply, &artifact.format), artifact),
            None => FoundBytes::Absent,
        },
        (None, Source::Answers) => return Ok(captured(name, looking)),
    };
    judge(found, need, artifact, looking)
}

/// Does the file of an artifact still have its captured content? An unreadable file does not.
pub fn is_as_captured(input: &Input, looking: &LookContext<'_>) -> bool {
    let need = ArtifactNeed {
        artifact: input.artifact.clone(),
        step: input.step.clone(),
        agent: None,
    };
    look(&need, looking).is_ok_and(|look| look.seen.content() == Some(input.content))
}

/// What was found at the artifact's path.
enum FoundBytes {
    Absent,
    /// Something exists, but its bytes are not used: the reason, and what to do.
    Refused(String),
    Bytes {
        bytes: Vec<u8>,
        written: Option<Time>,
    },
}

impl FoundBytes {
    /// The same, with the time at which the file was last written.
    fn written(self, stat: &Stat) -> Self {
        match self {
            Self::Bytes { bytes, .. } => Self::Bytes {
                bytes,
                written: modified(stat),
            },
            Self::Absent | Self::Refused(_) => self,
        }
    }
}

/// None for a file from before 1970.
fn modified(stat: &Stat) -> Option<Time> {
    let seconds = i128::from(stat.st_mtime);
    let milliseconds = i128::from(stat.st_mtime_nsec) / 1_000_000;
    u64::try_from(seconds * 1000 + milliseconds).ok().map(Time)
}

/// We write the answers ourselves, so they are never read from a path that an agent can write.
fn captured(name: &ArtifactName, looking: &LookContext<'_>) -> ArtifactLook {
    let seen = match looking.run.artifacts.get(name) {
        Some(captured) => Seen::Valid {
            content: captured.content,
            word: None,
        },
        None => Seen::Absent,
    };
    ArtifactLook::without_commands(seen, None)
}

/// Reads a file of the project, without following links and never beyond its limit.
fn read(
    template: &str,
    need: &ArtifactNeed,
    artifact: &Artifact,
    looking: &LookContext<'_>,
) -> Result<FoundBytes, Error> {
    let definition = looking.pipeline.definition();
    let path = artifact_path(template, definition, looking.run, need.step.as_ref());
    let path = path.map_err(|reason| Error::ArtifactPath {
        artifact: need.artifact.clone(),
        reason,
    })?;
    let unreadable = |cause| Error::Unreadable {
        path: String::from(path.as_str()),
        cause,
    };
    match beneath::open_file(&looking.project.root, path.parts()) {
        Ok((file, stat)) => {
            let found = take(file, artifact).map_err(unreadable)?;
            Ok(found.written(&stat))
        }
        Err(Refused::Absent) => Ok(FoundBytes::Absent),
        Err(Refused::Io(cause)) => Err(unreadable(cause)),
        Err(refused) => Ok(FoundBytes::Refused(reason(&refused, &path))),
    }
}

fn reason(refused: &Refused, path: &InsidePath) -> String {
    let path = text::line(path.as_str(), 200);
    match refused {
        Refused::Link(part) => format!(
            "`{}` in `{path}` is a symbolic link; remove the link and write a regular file",
            text::line(part, 100)
        ),
        Refused::NotAFolder(part) => format!(
            "`{}` in `{path}` is not a folder; make it one and write the file into it",
            text::line(part, 100)
        ),
        Refused::NotAFile(what) => {
            format!("`{path}` is {what}; remove it and write a regular file")
        }
        Refused::Absent | Refused::Io(_) => format!("`{path}` does not exist; write it"),
    }
}

/// Reads a file that a person named. It may be anywhere, but it must be a file within the limit.
fn read_given(path: &Path, artifact: &Artifact) -> Result<FoundBytes, Error> {
    let shown = path.display().to_string();
    let unreadable = |cause| Error::Unreadable {
        path: shown.clone(),
        cause,
    };
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Ok(FoundBytes::Refused(format!(
            "`{shown}` is not a file; name a regular file"
        )));
    }
    let file = std::fs::File::open(path).map_err(unreadable)?;
    take(file, artifact).map_err(unreadable)
}

fn take(file: std::fs::File, artifact: &Artifact) -> std::io::Result<FoundBytes> {
    let mut bytes = Vec::new();
    file.take(artifact.max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok(within(bytes, artifact))
}

fn within(bytes: Vec<u8>, artifact: &Artifact) -> FoundBytes {
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if length > artifact.max_bytes {
        FoundBytes::Refused(format!(
            "it is longer than {} bytes; write a shorter one",
            artifact.max_bytes
        ))
    } else {
        FoundBytes::Bytes {
            bytes,
            written: None,
        }
    }
}

/// The last message of an agent. If the format is JSON, a message that is not a JSON object is
/// wrapped.
fn reply_bytes(reply: &str, format: &Format) -> Vec<u8> {
    match format {
        Format::Bundle | Format::Text => reply.as_bytes().to_vec(),
        Format::Json { .. } => {
            let bare = without_fence(reply.trim());
            let looks_like_json = bare.starts_with('{') && bare.ends_with('}');
            if looks_like_json && document::json(bare).is_ok() {
                bare.as_bytes().to_vec()
            } else {
                json!({ "text": reply }).to_string().into_bytes()
            }
        }
    }
}

/// If a message is a single fenced block, its content counts.
fn without_fence(reply: &str) -> &str {
    let inside = reply
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"));
    let Some((language, body)) = inside.and_then(|inside| inside.split_once('\n')) else {
        return reply;
    };
    if matches!(language.trim(), "" | "json") {
        body.trim()
    } else {
        reply
    }
}

fn judge(
    found: FoundBytes,
    need: &ArtifactNeed,
    artifact: &Artifact,
    looking: &LookContext<'_>,
) -> Result<ArtifactLook, Error> {
    let (bytes, written_at) = match found {
        FoundBytes::Absent => return Ok(ArtifactLook::without_commands(Seen::Absent, None)),
        FoundBytes::Refused(reason) => return Ok(refused(reason)),
        FoundBytes::Bytes { bytes, written } => (bytes, written),
    };
    let Ok(written) = String::from_utf8(bytes) else {
        return Ok(refused(String::from(
            "it is not UTF-8 text; write it as UTF-8",
        )));
    };
    let kept = redact_document(&written, looking.secrets);
    let content = Content::of(kept.clone().into_bytes());
    let hash = content.hash;
    let definition = looking.pipeline.definition();
    let verdict = validate(&kept, need, artifact, looking)?.and_then(|verdict| {
        steps::check(&kept, &need.artifact, definition)?;
        questions::check(&kept, &need.artifact, definition)?;
        Ok(verdict)
    });
    let look = match verdict {
        Ok(ArtifactFields {
            word,
            commands,
            reason,
        }) => ArtifactLook {
            seen: Seen::Valid {
                content: hash,
                word,
            },
            content: Some(content),
            written: None,
            commands,
            reason,
            unlisted: unlisted(&kept, &need.artifact, definition),
        },
        Err(reason) => {
            let seen = Seen::Invalid {
                content: hash,
                reason,
            };
            ArtifactLook::without_commands(seen, Some(content))
        }
    };
    Ok(ArtifactLook {
        written: written_at,
        ..look
    })
}

/// The lists that stages take from this artifact, and that it does not have.
fn unlisted(
    content: &str,
    name: &ArtifactName,
    definition: &Definition,
) -> BTreeMap<String, String> {
    let Some(artifact) = definition.artifacts.get(name) else {
        return BTreeMap::new();
    };
    let lacking = |(stage, field): (&Stage, &FieldOf)| {
        let reason = match &stage.work {
            Work::Steps(_) => steps::unlisted(content, &artifact.format, &field.field),
            Work::Ask(_) => questions::unlisted(content, &artifact.format, &field.field),
            Work::Agent(_)
            | Work::Open(_)
            | Work::Check(_)
            | Work::Review(_)
            | Work::Route(_)
            | Work::End(_) => None,
        };
        Some((field.field.clone(), reason?))
    };
    engine::listed_fields(definition, name)
        .filter_map(lacking)
        .collect()
}

/// Only a note about it is kept, and the note's hash represents it.
fn refused(reason: String) -> ArtifactLook {
    let content = Content::of(format!("not kept: {reason}\n").into_bytes());
    let seen = Seen::Invalid {
        content: content.hash,
        reason,
    };
    ArtifactLook::without_commands(seen, Some(content))
}

/// What an artifact says.
#[derive(Default)]
struct ArtifactFields {
    /// The word of its outcome field.
    word: Option<String>,
    commands: Vec<Vec<String>>,
    reason: Option<String>,
}

/// What it says, or a reason that tells the worker what to write.
type Verdict = Result<ArtifactFields, String>;

fn validate(
    kept: &str,
    need: &ArtifactNeed,
    artifact: &Artifact,
    looking: &LookContext<'_>,
) -> Result<Verdict, Error> {
    if kept.trim().is_empty() {
        return Ok(Err(String::from(
            "it is empty; write what the stage asks for",
        )));
    }
    let value = match &artifact.format {
        Format::Text => return Ok(Ok(ArtifactFields::default())),
        Format::Bundle => bundle::front_matter(kept),
        Format::Json { schema: None } => json_value(kept),
        Format::Json {
            schema: Some(schema),
        } => match json_value(kept) {
            Ok(value) => schema::validate(schema, &value)
                .map_err(|reason| Error::Schema {
                    artifact: need.artifact.clone(),
                    reason,
                })?
                .map(|()| value),
            Err(reason) => Err(reason),
        },
    };
    Ok(value.and_then(|value| {
        let word = fields(&value, artifact)?;
        equal(&value, need, looking)?;
        Ok(ArtifactFields {
            word,
            commands: commands(&value, need, looking)?,
            reason: own_reason(&value, artifact),
        })
    }))
}

/// Why the worker failed, on one line.
fn own_reason(value: &Value, artifact: &Artifact) -> Option<String> {
    let field = artifact.outcome.as_ref()?.reason.as_ref()?;
    let found = document::field(value, field).and_then(document::scalar)?;
    let reason = text::line(&found, LONGEST_REASON);
    (!reason.trim().is_empty()).then_some(reason)
}

fn json_value(kept: &str) -> Result<Value, String> {
    document::json(kept).map_err(|error| {
        format!(
            "it is not valid JSON ({}); write one JSON object",
            text::line(&error, 200)
        )
    })
}

fn fields(value: &Value, artifact: &Artifact) -> Result<Option<String>, String> {
    let wants_fields = !artifact.require.is_empty() || artifact.outcome.is_some();
    if wants_fields && !value.is_object() {
        return Err(format!(
            "it is {}; write an object with fields",
            document::kind(value)
        ));
    }
    let is_missing = |name: &&String| document::field(value, name).is_none_or(document::is_empty);
    let missing: Vec<&str> = artifact
        .require
        .iter()
        .filter(is_missing)
        .map(String::as_str)
        .collect();
    if !missing.is_empty() {
        return Err(format!(
            "it lacks {}; add a value for each",
            missing.join(", ")
        ));
    }
    artifact
        .outcome
        .as_ref()
        .map(|outcome| word(value, outcome))
        .transpose()
}

/// The commands in the fields that checks use. A command that would not run is refused while its
/// author can still correct it.
fn commands(
    value: &Value,
    need: &ArtifactNeed,
    looking: &LookContext<'_>,
) -> Result<Vec<Vec<String>>, String> {
    let fields = looking.pipeline.definition().command_fields(&need.artifact);
    let mut commands = Vec::new();
    for field in fields {
        commands.extend(check::commands_in(value, field)?);
    }
    Ok(commands)
}

/// The required values of an artifact's fields in this work. Without a worker nothing is required.
pub fn required_fields(
    need: &ArtifactNeed,
    definition: &Definition,
    run: &Run,
) -> Result<Vec<(String, String)>, String> {
    let filling = PlaceholderValues {
        definition,
        run,
        step: need.step.as_ref(),
        agent: need.agent.as_ref(),
    };
    let artifact = definition.artifacts.get(&need.artifact);
    let equals = artifact.map(|artifact| &artifact.equals).into_iter();
    let wanted = equals.flatten().filter(|_| need.agent.is_some());
    wanted
        .map(|(field, template)| Ok((field.clone(), filling.fill(template)?)))
        .collect()
}

fn equal(value: &Value, need: &ArtifactNeed, looking: &LookContext<'_>) -> Result<(), String> {
    for (field, wanted) in required_fields(need, looking.pipeline.definition(), looking.run)? {
        match document::field(value, &field).and_then(document::scalar) {
            Some(found) if says(&found, &wanted) => {}
            Some(found) => {
                let found = text::line(&found, LONGEST_WORD);
                return Err(format!("`{field}` is {found:?}; write {wanted:?}"));
            }
            None => return Err(format!("it lacks {field}; write {wanted:?}")),
        }
    }
    Ok(())
}

/// The same word or path, or the same prefix if a star is at the end.
fn says(found: &str, wanted: &str) -> bool {
    let same_path = || match (InsidePath::parse(found), InsidePath::parse(wanted)) {
        (Ok(found), Ok(wanted)) => found == wanted,
        _ => false,
    };
    match wanted.strip_suffix('*') {
        Some(beginning) => found.starts_with(beginning),
        None => found == wanted || same_path(),
    }
}

/// The engine judges which words have a meaning; here it only has to be one word.
fn word(value: &Value, outcome: &OutcomeField) -> Result<String, String> {
    let field = &outcome.field;
    let words = outcome
        .values
        .keys()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    let Some(found) = document::field(value, field).filter(|found| !document::is_empty(found))
    else {
        return Err(format!("it has no `{field}`; add it with one of: {words}"));
    };
    let Some(word) = document::scalar(found) else {
        return Err(format!(
            "`{field}` is {}; write one of: {words}",
            document::kind(found)
        ));
    };
    if word.chars().count() > LONGEST_WORD || word.chars().any(char::is_control) {
        Err(format!("`{field}` is not one word; write one of: {words}"))
    } else {
        Ok(word)
    }
}
