// SPDX-License-Identifier: Apache-2.0
//! Type texts: `U64`, `Bytes<max=16>`, `Record<a:U64,b:Bool>`, coordinates.

use super::table::TypeError;

/// The syntax of one type text; names are not resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TypeText {
    Bool,
    Integer(super::Width),
    String { max: u64 },
    Bytes { min: u64, max: u64 },
    Option(Box<TypeText>),
    List { item: Box<TypeText>, max: u64 },
    Record(Vec<(String, TypeText)>),
    Name(String),
}

/// Parses a whole type text.
///
/// Record fields ascend, there are no spaces and no leading zeros.
pub(super) fn parse(text: &str) -> Result<TypeText, TypeError> {
    let mut parser = Parser {
        text,
        rest: text,
        depth: 0,
    };
    let parsed = parser.any()?;
    if parser.rest.is_empty() {
        Ok(parsed)
    } else {
        Err(parser.fail("text after the type"))
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn fail(&self, problem: &'static str) -> TypeError {
        TypeError::Text {
            text: self.text.to_owned(),
            offset: self.text.len().saturating_sub(self.rest.len()),
            problem,
        }
    }

    /// Recursion is bounded by [`super::MAX_TYPE_DEPTH`].
    fn any(&mut self) -> Result<TypeText, TypeError> {
        if self.depth >= super::MAX_TYPE_DEPTH {
            return Err(self.fail("nested too deep"));
        }
        self.depth = self.depth.saturating_add(1);
        let name = self.name()?;
        let parsed = match name.as_str() {
            "Bool" => TypeText::Bool,
            "String" => {
                self.expect("<max=")?;
                let max = self.number()?;
                self.expect(">")?;
                TypeText::String { max }
            }
            "Bytes" => self.bytes()?,
            "Option" => {
                self.expect("<")?;
                let item = Box::new(self.any()?);
                self.expect(">")?;
                TypeText::Option(item)
            }
            "List" => {
                self.expect("<")?;
                let item = Box::new(self.any()?);
                self.expect(",max=")?;
                let max = self.number()?;
                self.expect(">")?;
                TypeText::List { item, max }
            }
            "Record" => self.record()?,
            _ => match super::Width::from_name(&name) {
                Some(width) => TypeText::Integer(width),
                None if name.contains('@') => TypeText::Name(name),
                None => return Err(self.fail("neither a built-in type nor a coordinate")),
            },
        };
        self.depth = self.depth.saturating_sub(1);
        Ok(parsed)
    }

    fn bytes(&mut self) -> Result<TypeText, TypeError> {
        if self.take("<exact=") {
            let max = self.number()?;
            self.expect(">")?;
            return Ok(TypeText::Bytes { min: max, max });
        }
        let min = if self.take("<max=") {
            0
        } else {
            self.expect("<min=")?;
            let min = self.number()?;
            self.expect(",max=")?;
            min
        };
        let max = self.number()?;
        self.expect(">")?;
        if min > max {
            return Err(self.fail("the minimum exceeds the maximum"));
        }
        Ok(TypeText::Bytes { min, max })
    }

    fn record(&mut self) -> Result<TypeText, TypeError> {
        self.expect("<")?;
        let mut fields: Vec<(String, TypeText)> = Vec::new();
        if self.take(">") {
            return Ok(TypeText::Record(fields));
        }
        loop {
            let name = self.name()?;
            if fields.last().is_some_and(|(last, _)| *last >= name) {
                return Err(self.fail("record fields do not ascend"));
            }
            self.expect(":")?;
            fields.push((name, self.any()?));
            if self.take(">") {
                return Ok(TypeText::Record(fields));
            }
            self.expect(",")?;
        }
    }

    /// Everything up to the next structural character.
    fn name(&mut self) -> Result<String, TypeError> {
        let end = self
            .rest
            .find(['<', '>', ',', ':', '='])
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        if name.is_empty() || name.chars().any(char::is_whitespace) {
            return Err(self.fail("a name is missing"));
        }
        self.rest = rest;
        Ok(name.to_owned())
    }

    fn number(&mut self) -> Result<u64, TypeError> {
        let end = self
            .rest
            .find(|sign: char| !sign.is_ascii_digit())
            .unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        if digits.len() > 1 && digits.starts_with('0') {
            return Err(self.fail("a bound has a leading zero"));
        }
        let number = digits
            .parse()
            .map_err(|_| self.fail("not an unsigned 64-bit bound"))?;
        self.rest = rest;
        Ok(number)
    }

    fn take(&mut self, expected: &str) -> bool {
        match self.rest.strip_prefix(expected) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, expected: &'static str) -> Result<(), TypeError> {
        if self.take(expected) {
            Ok(())
        } else {
            Err(self.fail("the type is not written in its one form"))
        }
    }
}
