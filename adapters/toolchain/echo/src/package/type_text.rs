// SPDX-License-Identifier: Apache-2.0
//! The parser of type texts. Nesting is bounded, so no text can exhaust the stack.

use crate::limits::MAX_TYPE_DEPTH;
use std::fmt;

/// A parsed type text. Coordinates are not resolved yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TypeText<'a> {
    Bool,
    U32,
    U64,
    I32,
    I64,
    Text { max: u64 },
    Bytes { min: u64, max: u64 },
    Option(Box<Self>),
    List { item: Box<Self>, max: u64 },
    Record(Vec<(&'a str, Self)>),
    Variant(Vec<(&'a str, Option<Self>)>),
    Nominal(Box<Self>),
    Named(&'a str),
}

/// Why a text is no type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypeTextError {
    message: &'static str,
    offset: usize,
}

impl fmt::Display for TypeTextError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at byte {}", self.message, self.offset)
    }
}

/// Parses a type text. `definition` allows what only the top of an exported definition may have.
pub(crate) fn parse(text: &str, definition: bool) -> Result<TypeText<'_>, TypeTextError> {
    let mut parser = Parser {
        text,
        position: 0,
        depth: 0,
    };
    let parsed = if definition {
        parser.definition()?
    } else {
        parser.ty()?
    };
    if parser.position == text.len() {
        Ok(parsed)
    } else {
        Err(parser.error("text goes on after the type"))
    }
}

struct Parser<'a> {
    text: &'a str,
    position: usize,
    depth: u64,
}

impl<'a> Parser<'a> {
    fn error(&self, message: &'static str) -> TypeTextError {
        TypeTextError {
            message,
            offset: self.position,
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        if found {
            self.position = self.position.saturating_add(sign.len());
        }
        found
    }

    fn expect(&mut self, sign: &str, message: &'static str) -> Result<(), TypeTextError> {
        if self.take(sign) {
            Ok(())
        } else {
            Err(self.error(message))
        }
    }

    /// The longest run of signs of a coordinate, not empty.
    fn word(&mut self) -> Result<&'a str, TypeTextError> {
        let rest = self.rest();
        let end = rest
            .find(|sign: char| !(sign.is_ascii_alphanumeric() || "_.@-".contains(sign)))
            .unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        if word.is_empty() {
            return Err(self.error("a name must stand here"));
        }
        self.position = self.position.saturating_add(end);
        Ok(word)
    }

    fn number(&mut self) -> Result<u64, TypeTextError> {
        let rest = self.rest();
        let end = rest
            .find(|sign: char| !sign.is_ascii_digit())
            .unwrap_or(rest.len());
        let digits = rest.get(..end).unwrap_or_default();
        if digits.len() > 1 && digits.starts_with('0') {
            return Err(self.error("a number has no leading zero"));
        }
        let number = digits
            .parse()
            .map_err(|_| self.error("a number below 2^64 must stand here"))?;
        self.position = self.position.saturating_add(end);
        Ok(number)
    }

    fn definition(&mut self) -> Result<TypeText<'a>, TypeTextError> {
        if self.take("Nominal<") {
            let inner = self.ty()?;
            self.expect(">", "`>` must close the nominal type")?;
            return Ok(TypeText::Nominal(Box::new(inner)));
        }
        if self.take("Variant<") {
            return self.variant();
        }
        self.ty()
    }

    fn ty(&mut self) -> Result<TypeText<'a>, TypeTextError> {
        let start = self.position;
        let word = self.word()?;
        if self.take("<") {
            self.depth = self.depth.saturating_add(1);
            if self.depth > MAX_TYPE_DEPTH.saturating_add(1) {
                return Err(self.error("the type nests too deep"));
            }
            let parsed = self.arguments(word, start)?;
            self.depth = self.depth.saturating_sub(1);
            return Ok(parsed);
        }
        match word {
            "Bool" => Ok(TypeText::Bool),
            "U32" => Ok(TypeText::U32),
            "U64" => Ok(TypeText::U64),
            "I32" => Ok(TypeText::I32),
            "I64" => Ok(TypeText::I64),
            name if name.contains('@') => Ok(TypeText::Named(name)),
            _ => {
                self.position = start;
                Err(self.error("no type has this name, or its bound is missing"))
            }
        }
    }

    fn arguments(&mut self, word: &str, start: usize) -> Result<TypeText<'a>, TypeTextError> {
        let parsed = match word {
            "String" => {
                self.expect("max=", "`max=` must bound the string")?;
                TypeText::Text {
                    max: self.number()?,
                }
            }
            "Bytes" => self.length_range()?,
            "Option" => TypeText::Option(Box::new(self.ty()?)),
            "List" => {
                let item = Box::new(self.ty()?);
                self.expect(",max=", "`,max=` must bound the list")?;
                TypeText::List {
                    item,
                    max: self.number()?,
                }
            }
            "Record" => return self.record(),
            _ => {
                self.position = start;
                return Err(self.error("no type with arguments has this name"));
            }
        };
        self.expect(">", "`>` must close the type")?;
        Ok(parsed)
    }

    fn length_range(&mut self) -> Result<TypeText<'a>, TypeTextError> {
        if self.take("exact=") {
            let exact = self.number()?;
            return Ok(TypeText::Bytes {
                min: exact,
                max: exact,
            });
        }
        let min = if self.take("min=") {
            let min = self.number()?;
            self.expect(",", "`,max=` must follow")?;
            min
        } else {
            0
        };
        self.expect("max=", "`max=` must bound the bytes")?;
        let max = self.number()?;
        if min > max {
            return Err(self.error("the least length is above the greatest"));
        }
        Ok(TypeText::Bytes { min, max })
    }

    fn record(&mut self) -> Result<TypeText<'a>, TypeTextError> {
        let mut fields: Vec<(&str, TypeText<'a>)> = Vec::new();
        if self.take(">") {
            return Ok(TypeText::Record(fields));
        }
        loop {
            let name = self.word()?;
            if fields.last().is_some_and(|last| last.0 >= name) {
                return Err(self.error("fields must ascend"));
            }
            self.expect(":", "`:` must follow the field name")?;
            fields.push((name, self.ty()?));
            if self.take(">") {
                return Ok(TypeText::Record(fields));
            }
            self.expect(",", "`,` or `>` must follow the field")?;
        }
    }

    fn variant(&mut self) -> Result<TypeText<'a>, TypeTextError> {
        let mut cases: Vec<(&str, Option<TypeText<'a>>)> = Vec::new();
        loop {
            let name = self.word()?;
            let payload = if self.take("(") {
                let payload = self.ty()?;
                self.expect(")", "`)` must close the payload")?;
                Some(payload)
            } else {
                None
            };
            cases.push((name, payload));
            if self.take(">") {
                return Ok(TypeText::Variant(cases));
            }
            self.expect(",", "`,` or `>` must follow the case")?;
        }
    }
}
