//! The pages of the documentation, as the program hands them over.

/// A page of the documentation.
#[derive(Clone, Copy)]
pub struct HelpTopic {
    pub name: &'static str,
    /// The heading under which lists have it.
    pub group: &'static str,
    pub about: &'static str,
    /// As Markdown.
    pub page: &'static str,
    /// The pictures that the page shows.
    pub pictures: &'static [HelpPicture],
}

/// A picture of a page of the documentation.
#[derive(Clone, Copy)]
pub struct HelpPicture {
    pub file: &'static str,
    pub svg: &'static str,
}
