// SPDX-License-Identifier: Apache-2.0
//! The grammar of type texts.

use super::reader::{Defect, refuse};
use super::types::{Case, MAX_TYPE_DEPTH, Type, Width};
use std::collections::BTreeMap;

/// Reads type texts from left to right.
#[derive(Debug)]
pub(super) struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    /// At the start of a text.
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// Whether nothing is left.
    pub(super) fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// Takes a token if it stands here.
    pub(super) fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes a token that must stand here.
    pub(super) fn expect(&mut self, token: &str) -> Result<(), Defect> {
        if self.take(token) {
            Ok(())
        } else {
            refuse(format!("expected `{token}` before `{}`", self.rest))
        }
    }

    fn while_matches(&mut self, accept: fn(char) -> bool) -> String {
        let end = self
            .rest
            .find(|sign| !accept(sign))
            .unwrap_or(self.rest.len());
        let (head, rest) = self.rest.split_at(end);
        self.rest = rest;
        head.to_owned()
    }

    fn word(&mut self) -> Result<String, Defect> {
        let word = self.while_matches(|sign| sign.is_ascii_alphanumeric() || sign == '_');
        if word.is_empty() || word.starts_with(|sign: char| sign.is_ascii_digit()) {
            return refuse(format!("expected a name before `{}`", self.rest));
        }
        Ok(word)
    }

    /// `package@version.Name`.
    pub(super) fn coordinate(&mut self) -> Result<String, Defect> {
        let coordinate = self.while_matches(|sign| {
            sign.is_ascii_alphanumeric() || matches!(sign, '_' | '.' | '@' | '-')
        });
        let named = coordinate.split_once('@').is_some_and(|(package, rest)| {
            !package.is_empty() && rest.contains('.') && !rest.contains('@')
        });
        if named {
            Ok(coordinate)
        } else {
            refuse(format!("`{coordinate}` is no type"))
        }
    }

    fn number(&mut self) -> Result<u64, Defect> {
        let digits = self.while_matches(|sign| sign.is_ascii_digit());
        digits
            .parse()
            .map_err(|_| Defect::new(format!("`{digits}` is no bound")))
    }

    /// A type. Recursion is bounded by `MAX_TYPE_DEPTH`.
    pub(super) fn ty(&mut self, depth: usize) -> Result<Type, Defect> {
        if depth >= MAX_TYPE_DEPTH {
            return refuse("types nest too deep");
        }
        if self.take("String<max=") {
            let max = self.number()?;
            self.expect(">")?;
            return Ok(Type::String { max });
        }
        if self.take("Bytes<") {
            return self.byte_string();
        }
        if self.take("Option<") {
            let item = self.ty(depth.saturating_add(1))?;
            self.expect(">")?;
            return Ok(item.optional());
        }
        if self.take("List<") {
            let item = Box::new(self.ty(depth.saturating_add(1))?);
            self.expect(",max=")?;
            let max = self.number()?;
            self.expect(">")?;
            return Ok(Type::List { item, max });
        }
        if self.take("Record<") {
            return self.record(depth);
        }
        self.name()
    }

    fn name(&mut self) -> Result<Type, Defect> {
        let rest = self.rest;
        let word = self.while_matches(|sign| {
            sign.is_ascii_alphanumeric() || matches!(sign, '_' | '.' | '@' | '-')
        });
        match word.as_str() {
            "Bool" => Ok(Type::Bool),
            "U32" => Ok(Type::Integer(Width::U32)),
            "U64" => Ok(Type::Integer(Width::U64)),
            "I32" => Ok(Type::Integer(Width::I32)),
            "I64" => Ok(Type::Integer(Width::I64)),
            _ => {
                self.rest = rest;
                self.coordinate().map(Type::Named)
            }
        }
    }

    fn byte_string(&mut self) -> Result<Type, Defect> {
        let (min, max) = if self.take("exact=") {
            let exact = self.number()?;
            (exact, exact)
        } else if self.take("min=") {
            let min = self.number()?;
            self.expect(",max=")?;
            (min, self.number()?)
        } else {
            self.expect("max=")?;
            (0, self.number()?)
        };
        self.expect(">")?;
        Ok(Type::Bytes { min, max })
    }

    fn record(&mut self, depth: usize) -> Result<Type, Defect> {
        let mut fields = BTreeMap::new();
        while !self.take(">") {
            if !fields.is_empty() {
                self.expect(",")?;
            }
            let name = self.word()?;
            self.expect(":")?;
            let field = self.ty(depth.saturating_add(1))?;
            if fields.insert(name, field).is_some() {
                return refuse("a field stands twice");
            }
        }
        Ok(Type::Record(fields))
    }

    /// The cases of a variant, up to the closing sign.
    pub(super) fn cases(&mut self) -> Result<Vec<Case>, Defect> {
        let mut cases: Vec<Case> = Vec::new();
        while !self.take(">") {
            if !cases.is_empty() {
                self.expect(",")?;
            }
            let name = self.word()?;
            let payload = if self.take("(") {
                let payload = self.ty(0)?;
                self.expect(")")?;
                Some(payload)
            } else {
                None
            };
            cases.push(Case { name, payload });
        }
        Ok(cases)
    }
}
