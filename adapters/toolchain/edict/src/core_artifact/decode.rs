// SPDX-License-Identifier: Apache-2.0
//! Functions from canonical values: the bodies of helpers that a lawpack exports.

use crate::{
    core::tree::{
        Binder, Block, Comparison, Expr, Fold, Function, Local, MatchArm, Node, Predicate,
    },
    shape::{At, ShapeError},
    type_text::TypeTable,
    types::ty::Type,
};

/// Reads a function; type texts are resolved through `types`.
///
/// The form is checked, not the typing: that is the business of whoever judges a whole program.
///
/// # Errors
/// The first member that is not of its form.
pub fn function(at: &At<'_>, types: &TypeTable) -> Result<Function, ShapeError> {
    let at = at.closed();
    at.object(&["parameters", "result", "bindings", "value"], &[])?;
    let reader = Reader { types };
    let parameters = at.member("parameters")?.items()?;
    let bindings = at.member("bindings")?.items()?;
    Ok(Function {
        parameters: reader.each(&parameters, Reader::binder)?,
        result: reader.ty(&at.member("result")?)?,
        bindings: reader.each(&bindings, Reader::node)?,
        value: reader.expression(&at.member("value")?)?,
    })
}

struct Reader<'t> {
    types: &'t TypeTable,
}

impl Reader<'_> {
    fn each<T>(
        &self,
        items: &[At<'_>],
        read: fn(&Self, &At<'_>) -> Result<T, ShapeError>,
    ) -> Result<Vec<T>, ShapeError> {
        items.iter().map(|item| read(self, item)).collect()
    }

    fn ty(&self, at: &At<'_>) -> Result<Type, ShapeError> {
        self.types
            .resolve(at.text()?)
            .map_err(|error| at.fail(error.to_string()))
    }

    fn binder(&self, at: &At<'_>) -> Result<Binder, ShapeError> {
        at.object(&["id", "name", "type"], &[])?;
        let id = at.member("id")?;
        let local = local(&id)?;
        let name = match local {
            Local::Argument(number) => format!("$arg{number}"),
            Local::Local(number) => format!("$local{number}"),
            Local::Obstruction(number) => format!("$obstruction{number}"),
        };
        at.member("name")?.exactly(&name)?;
        Ok(Binder {
            local,
            ty: self.ty(&at.member("type")?)?,
        })
    }

    fn optional_binder(&self, at: &At<'_>) -> Result<Option<Binder>, ShapeError> {
        if at.value().is_null() {
            return Ok(None);
        }
        self.binder(at).map(Some)
    }

    fn node(&self, at: &At<'_>) -> Result<Node, ShapeError> {
        match at.text_of("kind")? {
            "let" => {
                at.object(&["kind", "binding", "value"], &[])?;
                Ok(Node::Let {
                    binding: self.binder(&at.member("binding")?)?,
                    value: self.expression(&at.member("value")?)?,
                })
            }
            "for" => {
                let members = [
                    "kind",
                    "item",
                    "collection",
                    "bound",
                    "binding",
                    "accumulator",
                    "initial",
                    "body",
                ];
                at.object(&members, &[])?;
                Ok(Node::For {
                    item: self.binder(&at.member("item")?)?,
                    collection: self.expression(&at.member("collection")?)?,
                    bound: at.member("bound")?.unsigned()?,
                    fold: Some(Fold {
                        binding: self.binder(&at.member("binding")?)?,
                        accumulator: self.binder(&at.member("accumulator")?)?,
                        initial: self.expression(&at.member("initial")?)?,
                    }),
                    body: self.block(&at.member("body")?)?,
                })
            }
            "branch" => {
                at.object(&["kind", "condition", "binding", "then", "else"], &[])?;
                Ok(Node::Branch {
                    condition: self.predicate(&at.member("condition")?)?,
                    binding: Some(self.binder(&at.member("binding")?)?),
                    then: self.block(&at.member("then")?)?,
                    otherwise: self.block(&at.member("else")?)?,
                })
            }
            kind => Err(at.fail(format!("node `{kind}` does not stand in a function"))),
        }
    }

    fn block(&self, at: &At<'_>) -> Result<Block, ShapeError> {
        at.object(&["nodes", "result"], &[])?;
        let nodes = at.member("nodes")?.items()?;
        Ok(Block {
            nodes: self.each(&nodes, Self::node)?,
            result: Some(self.expression(&at.member("result")?)?),
        })
    }

    fn expression(&self, at: &At<'_>) -> Result<Expr, ShapeError> {
        match at.text_of("kind")? {
            "const" => {
                at.object(&["kind", "type", "value"], &[])?;
                Ok(Expr::Const {
                    ty: self.ty(&at.member("type")?)?,
                    value: at.member("value")?.value().clone(),
                })
            }
            "local" => {
                at.object(&["kind", "id"], &[])?;
                local(&at.member("id")?).map(Expr::Local)
            }
            "field" => {
                at.object(&["kind", "base", "field"], &[])?;
                Ok(Expr::Field {
                    base: Box::new(self.expression(&at.member("base")?)?),
                    field: at.text_of("field")?.to_owned(),
                })
            }
            "record" => {
                at.object(&["kind", "fields"], &[])?;
                let fields = at.member("fields")?.items()?;
                self.each(&fields, Self::field).map(Expr::Record)
            }
            "list" => {
                at.object(&["kind", "item", "items"], &[])?;
                let items = at.member("items")?.items()?;
                Ok(Expr::List {
                    item: self.ty(&at.member("item")?)?,
                    items: self.each(&items, Self::expression)?,
                })
            }
            "variant" => self.variant(at),
            "match" => {
                at.object(&["kind", "value", "arms"], &[])?;
                let arms = at.member("arms")?.items()?;
                Ok(Expr::Match {
                    value: Box::new(self.expression(&at.member("value")?)?),
                    arms: self.each(&arms, Self::match_arm)?,
                })
            }
            "call" => {
                at.object(&["kind", "callee", "typeArgs", "args"], &[])?;
                let types = at.member("typeArgs")?.items()?;
                let arguments = at.member("args")?.items()?;
                Ok(Expr::Call {
                    callee: at.text_of("callee")?.to_owned(),
                    type_arguments: self.each(&types, Self::ty)?,
                    arguments: self.each(&arguments, Self::expression)?,
                })
            }
            "if" => {
                at.object(&["kind", "condition", "then", "else"], &[])?;
                Ok(Expr::If {
                    condition: Box::new(self.predicate(&at.member("condition")?)?),
                    then: Box::new(self.expression(&at.member("then")?)?),
                    otherwise: Box::new(self.expression(&at.member("else")?)?),
                })
            }
            kind => Err(at.fail(format!("there is no expression `{kind}`"))),
        }
    }

    fn field(&self, at: &At<'_>) -> Result<(String, Expr), ShapeError> {
        at.object(&["name", "value"], &[])?;
        let value = self.expression(&at.member("value")?)?;
        Ok((at.text_of("name")?.to_owned(), value))
    }

    fn variant(&self, at: &At<'_>) -> Result<Expr, ShapeError> {
        at.object(&["kind", "type", "case", "payload"], &[])?;
        let payload = at.member("payload")?;
        let payload = if payload.value().is_null() {
            None
        } else {
            Some(Box::new(self.expression(&payload)?))
        };
        let named = at.member("type")?;
        match self.types.get(named.text()?) {
            Some(Type::Variant(variant)) => Ok(Expr::Variant {
                ty: variant.coordinate.clone(),
                case: at.text_of("case")?.to_owned(),
                payload,
            }),
            _ => Err(named.fail("no variant of that coordinate")),
        }
    }

    fn match_arm(&self, at: &At<'_>) -> Result<MatchArm, ShapeError> {
        at.object(&["case", "binding", "value"], &[])?;
        Ok(MatchArm {
            case: at.text_of("case")?.to_owned(),
            binding: self.optional_binder(&at.member("binding")?)?,
            value: self.expression(&at.member("value")?)?,
        })
    }

    fn predicate(&self, at: &At<'_>) -> Result<Predicate, ShapeError> {
        match at.text_of("kind")? {
            "compare" => {
                at.object(&["kind", "op", "left", "right"], &[])?;
                Ok(Predicate::Compare {
                    operator: operator(&at.member("op")?)?,
                    left: Box::new(self.expression(&at.member("left")?)?),
                    right: Box::new(self.expression(&at.member("right")?)?),
                })
            }
            "all" => self.parts(at).map(Predicate::All),
            "any" => self.parts(at).map(Predicate::Any),
            "not" => {
                at.object(&["kind", "part"], &[])?;
                let part = self.predicate(&at.member("part")?)?;
                Ok(Predicate::Not(Box::new(part)))
            }
            "true" => at.object(&["kind"], &[]).map(|()| Predicate::True),
            "false" => at.object(&["kind"], &[]).map(|()| Predicate::False),
            kind => Err(at.fail(format!("there is no predicate `{kind}`"))),
        }
    }

    fn parts(&self, at: &At<'_>) -> Result<Vec<Predicate>, ShapeError> {
        at.object(&["kind", "parts"], &[])?;
        let parts = at.member("parts")?;
        let items = parts.items()?;
        if items.len() < 2 {
            return Err(parts.fail("expected two or more parts"));
        }
        self.each(&items, Self::predicate)
    }
}

fn local(at: &At<'_>) -> Result<Local, ShapeError> {
    let text = at.text()?;
    let parsed = text.split_once('.').and_then(|(name, digits)| {
        let number: u32 = digits.parse().ok()?;
        let local = match name {
            "arg" => Local::Argument(number),
            "local" => Local::Local(number),
            "obstruction" => Local::Obstruction(number),
            _ => return None,
        };
        (number.to_string() == digits).then_some(local)
    });
    parsed.ok_or_else(|| at.fail(format!("`{text}` is no id of a local")))
}

fn operator(at: &At<'_>) -> Result<Comparison, ShapeError> {
    match at.text()? {
        "==" => Ok(Comparison::Equal),
        "!=" => Ok(Comparison::NotEqual),
        "<" => Ok(Comparison::Less),
        "<=" => Ok(Comparison::LessOrEqual),
        ">" => Ok(Comparison::Greater),
        ">=" => Ok(Comparison::GreaterOrEqual),
        sign => Err(at.fail(format!("there is no comparison `{sign}`"))),
    }
}
