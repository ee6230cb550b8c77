//! The rules of the language itself, each with a stable code that people can look up.
//!
//! What the text means as a pipeline is judged by `engine::CheckRule`, whose codes begin at GW-L201.

macro_rules! language_rules {
    ($($variant:ident, $code:literal, $text:literal;)*) => {
        /// A rule about the text of a pipeline file. The code never changes its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum LanguageRule {
            $(#[doc = $text] $variant,)*
        }

        impl LanguageRule {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// The rule in one sentence.
            pub fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

language_rules! {
    NotUtf8, "GW-L101", "a pipeline file is UTF-8 text";
    TooLarge, "GW-L102", "a pipeline file has at most 1 MiB";
    TooDeep, "GW-L103", "tables, lists and dotted keys are nested at most 32 deep";
    Syntax, "GW-L104", "a pipeline file is TOML, or JSON of the same model";
    DuplicateKey, "GW-L105", "a key is written once";
    ManyProblems, "GW-L106", "only the first hundred problems are shown";

    UnknownKey, "GW-L110", "every key is known";
    ForeignKey, "GW-L111", "a stage has only the keys of its kind";
    MissingKey, "GW-L112", "required keys are present";
    WrongType, "GW-L113", "a value has the type that its key needs";
    UnknownWord, "GW-L114", "a word is one of those that its key allows";
    Empty, "GW-L115", "required texts are not empty";
    OutOfRange, "GW-L116", "a number is within its range";
    ExcludedKey, "GW-L117", "keys that exclude each other are not used together";

    NoKind, "GW-L120", "a stage has a kind";
    TwoKinds, "GW-L121", "a stage has only one kind";
    BadName, "GW-L122", "a name has letters, digits, `-` and `_`";
    BadDuration, "GW-L123", "a time is a number with its unit";
    BadCost, "GW-L124", "a cost is in dollars, with two decimals at most";
    BadField, "GW-L125", "a field is written as `artifact.field`";
    BadTarget, "GW-L126", "a target is a stage, `@interrupted` or `{param}`";
    BadCommand, "GW-L127", "a command line can be split into words";
    ShellSyntax, "GW-L128", "a check runs a program, not a shell";

    BadReference, "GW-L130", "a referenced file is next to the definition or below it";
    MissingFile, "GW-L131", "a referenced file exists";
    BadSchema, "GW-L132", "a schema is a self-contained JSON Schema";
    BadGift, "GW-L133", "a file for a host is below `agents/`, `commands/` or `skills/`";
    BadIgnored, "GW-L134", "an ignored pattern is one line and does not hide everything from git";
    BadProtocol, "GW-L135", "a protocol is not empty, has at most 16 KiB, and has no marks of Gatewright";
    BadLitter, "GW-L136", "a litter pattern is a path in the project and does not cover everything";
    BadCarried, "GW-L137", "a carried path is a pattern in the project and does not cover everything";
    NothingToDeliver, "GW-L138", "only a run with a branch of its own delivers";
    BadRequest, "GW-L139", "a request to merge is `gh`, `glab`, or the words of a command";

    UnknownUse, "GW-L140", "a used pipeline is built in, or a file next to the definition";
    CircularUse, "GW-L141", "a pipeline does not use itself, also not through others";
    BadUse, "GW-L142", "a used pipeline has no problems of its own";
    UnknownPart, "GW-L143", "what is brought, replaced or left out exists in the used pipeline";
    LooseEnd, "GW-L144", "a brought stage leads only to stages that are brought or replaced";
}
