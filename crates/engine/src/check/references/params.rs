//! Parameters and limits: defaults and choices fit, limits are numbers, and a target is a stage.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Names;
use crate::amount::Amount;
use crate::definition::Param;
use crate::names::ParamName;
use crate::place;
use crate::problem::{CheckRule, Place};
use crate::stage::Stage;

impl<'a> Names<'a> {
    pub(super) fn params(&mut self) {
        for (name, param) in &self.definition.params {
            if let Some(default) = &param.default
                && !param.choices.is_empty()
                && !param.choices.contains(default)
            {
                let message = format!("the default of `{name}` is not one of its choices");
                let hint = format!("write one of: {}", param.choices.join(", "));
                self.add(
                    CheckRule::BadParam,
                    place!["params", name, "default"],
                    message,
                    hint,
                );
            }
            let strange = param
                .words
                .iter()
                .find(|(_, value)| !param.choices.is_empty() && !param.choices.contains(value));
            if let Some((word, _)) = strange {
                let message = format!("`{word}` of `{name}` does not mean one of its choices");
                let hint = format!("map it to one of: {}", param.choices.join(", "));
                let place = place!["params", name, "words", word];
                self.add(CheckRule::BadParam, place, message, hint);
            }
        }
    }

    pub(super) fn param(&mut self, name: &ParamName, place: Place) -> Option<&'a Param> {
        let definition = self.definition;
        let param = definition.params.get(name);
        if param.is_none() {
            let known = definition.params.keys().map(ParamName::as_str);
            self.unknown(
                CheckRule::UnknownParam,
                place,
                "parameter",
                name.as_str(),
                known,
            );
        }
        param
    }

    pub(super) fn amount(&mut self, amount: &Amount, place: Place) {
        let Amount::Param(name) = amount else { return };
        let Some(param) = self.param(name, place.clone()) else {
            return;
        };
        let values: Vec<&String> = param.default.iter().chain(&param.choices).collect();
        let known = !values.is_empty() || param.required;
        if !known || values.iter().any(|value| value.parse::<u32>().is_err()) {
            let message = format!("`{name}` is used as a limit but may not be a number");
            let hint = String::from("give it a default that is a number, or `required = true`");
            self.add(CheckRule::BadLimit, place, message, hint);
        }
    }

    pub(super) fn budget(&mut self) {
        let budget = &self.definition.budget;
        let parts = [
            ("turns", &budget.turns),
            ("tokens", &budget.tokens),
            ("cost", &budget.cost_cents),
        ];
        for (key, amount) in parts {
            if let Some(amount) = amount {
                self.amount(amount, place!["budget", key]);
            }
        }
    }

    /// With no round and no worker nothing could happen.
    pub(super) fn least_one(&mut self, stage: &Stage) {
        let key = if stage.is_review() {
            "rounds"
        } else {
            "max_parallel"
        };
        if stage.least_one() == Some(&Amount::Fixed(0)) {
            let message = format!("with `{key} = 0` nothing can happen in `{}`", stage.name);
            let hint = String::from("write at least 1");
            let place = place!["stages", stage.name, key];
            self.add(CheckRule::BadLimit, place, message, hint);
        }
    }

    /// `{run}` is always known; everything else is a parameter.
    pub(super) fn placeholder(&mut self, name: &str, place: Place) {
        if name == "run" {
            return;
        }
        match ParamName::parse(name) {
            Ok(name) => {
                self.param(&name, place);
            }
            Err(error) => {
                let message = format!("`{{{name}}}` is not a parameter: {error}");
                let hint = String::from("write the name of a parameter in braces");
                self.add(CheckRule::UnknownParam, place, message, hint);
            }
        }
    }

    pub(super) fn param_target(&mut self, name: &ParamName, place: &Place) {
        let Some(param) = self.param(name, place.clone()) else {
            return;
        };
        let unknown = param
            .choices
            .iter()
            .find(|choice| !self.stages.contains(choice.as_str()));
        let fault = match (param.choices.is_empty(), unknown) {
            (true, _) => Some(format!("`{name}` is a target but has no choices")),
            (_, Some(choice)) => Some(format!("`{name}` can be `{choice}`, which is not a stage")),
            (false, None) if param.default.is_none() && !param.required => {
                Some(format!("`{name}` is a target but may have no value"))
            }
            (false, None) => None,
        };
        if let Some(message) = fault {
            let hint = "give it `choices` that are stages, and a default".to_string();
            self.add(CheckRule::BadParamTarget, place.clone(), message, hint);
        }
    }
}
