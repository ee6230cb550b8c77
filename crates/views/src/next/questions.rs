//! The questions of a worker, as a person reads them.

use engine::Question;
use serde_json::{Value, json};

use crate::layout::TextBuilder;
use crate::paint::Style;
use crate::safe::line;

/// Each question with its id, which the answer names. The texts come from a worker, so they are escaped.
pub(crate) fn show(builder: &mut TextBuilder, questions: &[Question]) {
    for question in questions {
        let Question {
            id,
            text,
            options,
            context,
        } = question;
        builder.blank();
        builder.line(Style::Strong, &format!("  {}  {}", line(id), line(text)));
        if let Some(context) = context {
            builder.line(Style::Normal, &format!("    {}", line(context)));
        }
        if !options.is_empty() {
            let options: Vec<String> = options.iter().map(|option| line(option)).collect();
            let options = options.join(", ");
            builder.line(Style::Normal, &format!("    such as: {options}"));
        }
    }
}

pub(crate) fn json(question: &Question) -> Value {
    let Question {
        id,
        text,
        options,
        context,
    } = question;
    json!({ "id": id, "question": text, "options": options, "context": context })
}
