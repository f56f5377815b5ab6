// SPDX-License-Identifier: Apache-2.0
//! The grammar of type texts: no white space, one spelling per type.

use crate::types::ty::Width;
use std::collections::BTreeMap;

/// Greatest nesting of one type text.
const MAX_NESTING: usize = 64;
/// Greatest length of one type text in bytes.
const MAX_LENGTH: usize = 65_536;

/// Why a text is no type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("type `{text}`: {reason}")]
pub struct TypeTextError {
    /// The text, shortened.
    pub text: String,
    /// What is wrong.
    pub reason: String,
}

impl TypeTextError {
    /// An error about `text`.
    pub fn new(text: &str, reason: impl Into<String>) -> Self {
        Self {
            text: text.chars().take(80).collect(),
            reason: reason.into(),
        }
    }
}

/// A type text with unresolved coordinates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// `Bool`.
    Bool,
    /// An integer.
    Integer(Width),
    /// `String<max=N>`.
    Text(u64),
    /// `Bytes<…>` with least and greatest length.
    Bytes(u64, u64),
    /// `Option<T>`.
    Option(Box<Expression>),
    /// `List<T,max=N>`.
    List(Box<Expression>, u64),
    /// `Record<a:T>`.
    Record(BTreeMap<String, Expression>),
    /// A coordinate.
    Named(String),
}

/// What may stand at the top of an exported definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Any type text; a record here is a named record.
    Type(Expression),
    /// `Variant<Case,Case(T)>`.
    Variant(Vec<(String, Option<Expression>)>),
    /// `Nominal<coordinate>`.
    Nominal(String),
}

/// Reads a type text.
///
/// # Errors
/// The first place where the text leaves the grammar.
pub fn parse_type(text: &str) -> Result<Expression, TypeTextError> {
    whole(text, |reader| reader.expression(0))
}

/// Reads the definition of an exported type.
///
/// # Errors
/// As [`parse_type`].
pub fn parse_definition(text: &str) -> Result<Definition, TypeTextError> {
    whole(text, |reader| {
        if reader.take("Variant<") {
            return reader.variant();
        }
        if reader.take("Nominal<") {
            let coordinate = reader.coordinate()?;
            reader.expect(">")?;
            return Ok(Definition::Nominal(coordinate));
        }
        reader.expression(0).map(Definition::Type)
    })
}

fn whole<'a, T>(
    text: &'a str,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, String>,
) -> Result<T, TypeTextError> {
    if text.len() > MAX_LENGTH {
        return Err(TypeTextError::new(text, "longer than 65536 bytes"));
    }
    let mut reader = Reader { rest: text };
    let value = read(&mut reader).map_err(|reason| TypeTextError::new(text, reason))?;
    if reader.rest.is_empty() {
        Ok(value)
    } else {
        let reason = format!("unexpected `{}`", shorten(reader.rest));
        Err(TypeTextError::new(text, reason))
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(20).collect()
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn take(&mut self, sign: &str) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.take(sign) {
            Ok(())
        } else {
            let found = shorten(self.rest);
            Err(format!("expected `{sign}` before `{found}`"))
        }
    }

    fn number(&mut self) -> Result<u64, String> {
        let length = self
            .rest
            .find(|sign: char| !sign.is_ascii_digit())
            .unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at_checked(length).unwrap_or_default();
        self.rest = rest;
        match digits.parse::<u64>() {
            Ok(value) if value.to_string() == digits => Ok(value),
            _ => Err(format!("`{}` is no bound", shorten(digits))),
        }
    }

    /// A word of the signs that `accept` admits, at least one.
    fn word(&mut self, accept: impl Fn(char) -> bool) -> Result<String, String> {
        let length = self
            .rest
            .find(|sign: char| !accept(sign))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(length).unwrap_or_default();
        if word.is_empty() {
            return Err(format!("expected a name before `{}`", shorten(rest)));
        }
        self.rest = rest;
        Ok(word.to_owned())
    }

    fn name(&mut self) -> Result<String, String> {
        let word = self.word(|sign| sign.is_ascii_alphanumeric() || sign == '_')?;
        if word.starts_with(|sign: char| sign.is_ascii_digit()) {
            return Err(format!("`{word}` is no name"));
        }
        Ok(word)
    }

    fn coordinate(&mut self) -> Result<String, String> {
        let word = self
            .word(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '.' | '@' | '-'))?;
        if is_coordinate(&word) {
            Ok(word)
        } else {
            Err(format!("`{word}` is neither a type nor a coordinate"))
        }
    }

    fn expression(&mut self, depth: usize) -> Result<Expression, String> {
        if depth > MAX_NESTING {
            return Err("nested too deep".to_owned());
        }
        let below = depth.saturating_add(1);
        if self.take("String<max=") {
            let max = self.number()?;
            self.expect(">")?;
            return Ok(Expression::Text(max));
        }
        if self.take("Bytes<") {
            return self.bytes();
        }
        if self.take("Option<") {
            let item = self.expression(below)?;
            self.expect(">")?;
            return Ok(Expression::Option(Box::new(item)));
        }
        if self.take("List<") {
            let item = self.expression(below)?;
            self.expect(",max=")?;
            let max = self.number()?;
            self.expect(">")?;
            return Ok(Expression::List(Box::new(item), max));
        }
        if self.take("Record<") {
            return self.record(below);
        }
        let word = self
            .word(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '.' | '@' | '-'))?;
        match word.as_str() {
            "Bool" => Ok(Expression::Bool),
            "U32" => Ok(Expression::Integer(Width::U32)),
            "U64" => Ok(Expression::Integer(Width::U64)),
            "I32" => Ok(Expression::Integer(Width::I32)),
            "I64" => Ok(Expression::Integer(Width::I64)),
            _ if is_coordinate(&word) => Ok(Expression::Named(word)),
            _ => Err(format!("`{word}` is neither a type nor a coordinate")),
        }
    }

    fn bytes(&mut self) -> Result<Expression, String> {
        let (min, max) = if self.take("exact=") {
            let exact = self.number()?;
            (exact, exact)
        } else if self.take("max=") {
            (0, self.number()?)
        } else {
            self.expect("min=")?;
            let min = self.number()?;
            self.expect(",max=")?;
            (min, self.number()?)
        };
        self.expect(">")?;
        if min > max {
            return Err(format!("the least length {min} is above {max}"));
        }
        Ok(Expression::Bytes(min, max))
    }

    fn record(&mut self, depth: usize) -> Result<Expression, String> {
        let mut fields = BTreeMap::new();
        if self.take(">") {
            return Ok(Expression::Record(fields));
        }
        loop {
            let name = self.name()?;
            self.expect(":")?;
            let field = self.expression(depth)?;
            if fields.insert(name.clone(), field).is_some() {
                return Err(format!("field `{name}` stands twice"));
            }
            if !self.take(",") {
                self.expect(">")?;
                return Ok(Expression::Record(fields));
            }
        }
    }

    fn variant(&mut self) -> Result<Definition, String> {
        let mut cases: Vec<(String, Option<Expression>)> = Vec::new();
        loop {
            let name = self.name()?;
            if !name.starts_with(|sign: char| sign.is_ascii_uppercase()) {
                return Err(format!("case `{name}` must start with a capital"));
            }
            if cases.iter().any(|(other, _)| *other == name) {
                return Err(format!("case `{name}` stands twice"));
            }
            let payload = if self.take("(") {
                let payload = self.expression(0)?;
                self.expect(")")?;
                Some(payload)
            } else {
                None
            };
            cases.push((name, payload));
            if !self.take(",") {
                self.expect(">")?;
                return Ok(Definition::Variant(cases));
            }
        }
    }
}

/// Whether `text` is `package@version.Name`.
fn is_coordinate(text: &str) -> bool {
    let Some((package, rest)) = text.split_once('@') else {
        return false;
    };
    let Some((version, name)) = rest.rsplit_once('.') else {
        return false;
    };
    !package.is_empty()
        && !name.is_empty()
        && !rest.contains('@')
        && version.starts_with(|sign: char| sign.is_ascii_digit())
        && !name.starts_with(|sign: char| sign.is_ascii_digit())
}
