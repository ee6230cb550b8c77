//! The pages of the documentation, as the program hands them over.

/// A page of the documentation.
#[derive(Clone, Copy)]
pub struct HelpTopic {
    pub name: &'static str,
    pub about: &'static str,
    /// As Markdown.
    pub page: &'static str,
}
