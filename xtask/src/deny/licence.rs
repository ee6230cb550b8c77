//! SPDX expressions: is a package allowed by the licences that it offers?

/// Is there a way to use it with these licences alone? Old manifests write `/` for `OR`. What is not an
/// expression allows nothing.
pub(super) fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let mut words = Words {
        left: spaced.split_whitespace().collect(),
        allowed,
    };
    words.any() == Some(true) && words.left.is_empty()
}

/// The words of an expression that are left, from the first on.
struct Words<'a> {
    left: Vec<&'a str>,
    allowed: &'a [String],
}

impl Words<'_> {
    fn take(&mut self, word: &str) -> bool {
        let is_next = self.left.first() == Some(&word);
        if is_next {
            self.left.remove(0);
        }
        is_next
    }

    /// `a OR b`; `AND` binds more tightly.
    fn any(&mut self) -> Option<bool> {
        let mut allowed = self.all()?;
        while self.take("OR") {
            allowed |= self.all()?;
        }
        Some(allowed)
    }

    fn all(&mut self) -> Option<bool> {
        let mut allowed = self.one()?;
        while self.take("AND") {
            allowed &= self.one()?;
        }
        Some(allowed)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let allowed = self.any()?;
            return self.take(")").then_some(allowed);
        }
        let name = self.name()?;
        let name = if self.take("WITH") {
            format!("{name} WITH {}", self.name()?)
        } else {
            name
        };
        Some(self.allowed.contains(&name))
    }

    fn name(&mut self) -> Option<String> {
        let first = self.left.first()?;
        let is_name = !matches!(*first, "(" | ")" | "AND" | "OR" | "WITH");
        is_name.then(|| self.left.remove(0).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_read_as_spdx_means_it() {
        let allowed = ["MIT", "BSD-3-Clause", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("GPL-3.0/MIT", true),
            ("GPL-3.0 AND MIT", false),
            ("MIT AND BSD-3-Clause", true),
            ("MIT OR GPL-3.0 AND GPL-2.0", true),
            ("(MIT OR GPL-3.0) AND GPL-2.0", false),
            ("(GPL-2.0 OR MIT) AND BSD-3-Clause", true),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0", false),
            ("MIT WITH LLVM-exception", false),
            ("", false),
            ("MIT MIT", false),
            ("MIT OR", false),
            ("(MIT", false),
            ("MIT)", false),
            ("AND MIT", false),
            ("see LICENSE", false),
        ] {
            assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
        }
    }
}
