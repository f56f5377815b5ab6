// SPDX-License-Identifier: Apache-2.0
//! Expressions and predicates: type, interval and dearest cost, from nothing but Core.

use super::builtin;
use super::environment::{Environment, Range};
use super::signature::Signatures;
use crate::cost::Cost;
use crate::decode::expression::{Arm, Binder, Expression, Local, Predicate};
use crate::decode::reader::{Defect, Under, refuse};
use crate::decode::types::Type;
use crate::table::length;
use edict_codec::cbor::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of an expression.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub(crate) ty: Type,
    /// Of an integer.
    pub(crate) range: Option<Range>,
    pub(crate) cost: Cost,
}

/// Judges expressions in one scope.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    pub(crate) environment: Environment<'a>,
    pub(crate) signatures: &'a Signatures,
}

impl Judge<'_> {
    /// Judges an expression that must be assignable to `expected`.
    pub(crate) fn expect(&mut self, value: &Expression, expected: &Type) -> Result<Judged, Defect> {
        let judged = self.expression(value)?;
        if self.environment.table().assignable(&judged.ty, expected) {
            Ok(judged)
        } else {
            refuse(format!("expected {expected}, found {}", judged.ty))
        }
    }

    /// Judges an expression. Recursion is bounded by the nesting of the artifact.
    pub(crate) fn expression(&mut self, value: &Expression) -> Result<Judged, Defect> {
        let mut judged = match value {
            Expression::Constant { ty, value } => self.constant(ty, value)?,
            Expression::Local(local) => self.local(*local)?,
            Expression::Field { base, field } => self.field(base, field)?,
            Expression::Record(fields) => self.record(fields)?,
            Expression::List { item, items } => self.list(item, items)?,
            Expression::Case { ty, case, payload } => self.case(ty, case, payload.as_deref())?,
            Expression::Match { value, arms } => self.choice(value, arms)?,
            Expression::Call {
                callee,
                type_arguments,
                arguments,
            } => self.call(callee, type_arguments, arguments)?,
            Expression::If {
                condition,
                then,
                otherwise,
            } => self.conditional(condition, then, otherwise)?,
        };
        judged.cost = judged.cost.and(Cost::VISIT);
        if let Type::Integer(width) = *self.environment.table().resolve(&judged.ty) {
            let known = self
                .environment
                .term(value)
                .and_then(|term| self.environment.range(&term));
            judged.range = known.or(judged.range).or(Some(width.range()));
        } else {
            judged.range = None;
        }
        Ok(judged)
    }

    fn constant(&mut self, ty: &Type, value: &Value) -> Result<Judged, Defect> {
        self.environment.table().well_formed(ty).under("type")?;
        let held = match (self.environment.table().resolve(ty), value) {
            (Type::Bool, Value::Bool(_)) => true,
            (Type::Integer(width), Value::Integer(integer)) => width.holds(integer.get()),
            (Type::String { max }, Value::Text(text)) => length(text.chars().count()) <= *max,
            (Type::Bytes { min, max }, Value::Bytes(bytes)) => {
                (*min..=*max).contains(&length(bytes.len()))
            }
            _ => false,
        };
        if !held {
            return Err(Defect::new(format!("no value of {ty}")).under("value"));
        }
        Ok(plain(ty.clone()))
    }

    fn local(&self, local: Local) -> Result<Judged, Defect> {
        match self.environment.local(local) {
            Some(ty) => Ok(plain(ty.clone())),
            None => Err(Defect::new(format!("`{local}` is not in scope")).under("id")),
        }
    }

    fn field(&mut self, base: &Expression, field: &str) -> Result<Judged, Defect> {
        let base = self.expression(base).under("base")?;
        let fields = self.environment.table().fields(&base.ty);
        match fields.and_then(|fields| fields.get(field)) {
            Some(ty) => Ok(Judged {
                ty: ty.clone(),
                range: None,
                cost: base.cost,
            }),
            None => Err(Defect::new(format!("no field in {}", base.ty)).under("field")),
        }
    }

    fn record(&mut self, fields: &[(String, Expression)]) -> Result<Judged, Defect> {
        let mut types = BTreeMap::new();
        let mut cost = Cost::record(length(fields.len()));
        for (index, (name, value)) in fields.iter().enumerate() {
            let judged = self
                .expression(value)
                .under("value")
                .under(index)
                .under("fields")?;
            cost = cost.and(judged.cost);
            if types.insert(name.clone(), judged.ty).is_some() {
                return Err(Defect::new("stands twice").under(index).under("fields"));
            }
        }
        Ok(Judged {
            ty: Type::Record(types),
            range: None,
            cost,
        })
    }

    fn list(&mut self, item: &Type, items: &[Expression]) -> Result<Judged, Defect> {
        self.environment.table().well_formed(item).under("item")?;
        let max = length(items.len());
        let mut cost = Cost::list(max);
        for (index, value) in items.iter().enumerate() {
            let judged = self.expect(value, item).under(index).under("items")?;
            cost = cost.and(judged.cost);
        }
        Ok(Judged {
            ty: Type::List {
                item: Box::new(item.clone()),
                max,
            },
            range: None,
            cost,
        })
    }

    fn case(
        &mut self,
        name: &str,
        case: &str,
        payload: Option<&Expression>,
    ) -> Result<Judged, Defect> {
        let table = self.environment.table();
        let ty = Type::Named(name.to_owned());
        let Some(cases) = table.cases(&ty) else {
            return Err(Defect::new("no variant of that name").under("type"));
        };
        let Some(declared) = cases.iter().find(|candidate| candidate.name == case) else {
            return Err(Defect::new(format!("no case of {name}")).under("case"));
        };
        let cost = match (&declared.payload, payload) {
            (Some(expected), Some(payload)) => {
                let judged = self.expect(payload, expected).under("payload")?;
                judged.cost.and(Cost::CELL)
            }
            (None, None) => Cost::FREE,
            _ => {
                return Err(Defect::new("payload missing or superfluous").under("payload"));
            }
        };
        Ok(Judged {
            ty,
            range: None,
            cost,
        })
    }

    fn choice(&mut self, value: &Expression, arms: &[Arm]) -> Result<Judged, Defect> {
        let matched = self.expression(value).under("value")?;
        let table = self.environment.table();
        let cases: BTreeMap<String, Option<Type>> = match table.resolve(&matched.ty) {
            Type::Option(item) => [
                ("None".to_owned(), None),
                ("Some".to_owned(), Some((**item).clone())),
            ]
            .into(),
            other => match table.cases(other) {
                Some(cases) => cases
                    .iter()
                    .map(|case| (case.name.clone(), case.payload.clone()))
                    .collect(),
                None => return Err(Defect::new("no variant and no Option").under("value")),
            },
        };
        let mut handled = BTreeSet::new();
        let mut joined: Option<Judged> = None;
        for (index, arm) in arms.iter().enumerate() {
            let at = |defect: Defect| defect.under(index).under("arms");
            let Some(payload) = cases.get(&arm.case) else {
                return Err(at(Defect::new("no such case").under("case")));
            };
            if !handled.insert(&arm.case) {
                return Err(at(Defect::new("handled twice").under("case")));
            }
            let judged = self.arm(arm, payload.as_ref()).map_err(at)?;
            joined = Some(match joined {
                None => judged,
                Some(before) => self.either(&before, &judged).map_err(at)?,
            });
        }
        match joined {
            Some(joined) if handled.len() == cases.len() => Ok(Judged {
                cost: joined.cost.and(matched.cost),
                ..joined
            }),
            _ => Err(Defect::new("not every case is handled").under("arms")),
        }
    }

    fn arm(&mut self, arm: &Arm, payload: Option<&Type>) -> Result<Judged, Defect> {
        let mark = self.environment.mark();
        if let Some(binding) = &arm.binding {
            let fits = payload
                .is_some_and(|payload| self.environment.table().equivalent(payload, &binding.ty));
            if !fits {
                return Err(Defect::new("does not fit the payload of the case").under("binding"));
            }
            self.declare(binding, None).under("binding")?;
        }
        let judged = self.expression(&arm.value).under("value");
        self.environment.reset(mark);
        judged
    }

    /// Brings a binder other than a parameter or failure binder into scope.
    pub(crate) fn declare(&mut self, binding: &Binder, range: Option<Range>) -> Result<(), Defect> {
        self.binder(binding)?;
        self.environment.declare(binding, range)
    }

    /// Checks type and family of a binder that takes a local number.
    pub(crate) fn binder(&self, binding: &Binder) -> Result<(), Defect> {
        self.environment
            .table()
            .well_formed(&binding.ty)
            .under("type")?;
        match binding.local {
            Local::Numbered(_) => Ok(()),
            Local::Argument(_) | Local::Obstruction(_) => {
                Err(Defect::new("expected local.N").under("id"))
            }
        }
    }

    /// One of two values: joined type, hull of the intervals, greater cost.
    pub(crate) fn either(&self, left: &Judged, right: &Judged) -> Result<Judged, Defect> {
        let Some(ty) = self.environment.table().join(&left.ty, &right.ty) else {
            return refuse(format!("{} does not join with {}", right.ty, left.ty));
        };
        let range = match (left.range, right.range) {
            (Some(left), Some(right)) => Some((left.0.min(right.0), left.1.max(right.1))),
            _ => None,
        };
        Ok(Judged {
            ty,
            range,
            cost: left.cost.or(right.cost),
        })
    }

    fn conditional(
        &mut self,
        condition: &Predicate,
        then: &Expression,
        otherwise: &Expression,
    ) -> Result<Judged, Defect> {
        let tested = self.predicate(condition).under("condition")?;
        let mark = self.environment.mark();
        self.environment.assume(condition, true);
        let then = self.expression(then).under("then");
        self.environment.reset(mark);
        self.environment.assume(condition, false);
        let otherwise = self.expression(otherwise).under("else");
        self.environment.reset(mark);
        let joined = self.either(&then?, &otherwise?).under("else")?;
        Ok(Judged {
            cost: joined.cost.and(tested),
            ..joined
        })
    }

    fn call(
        &mut self,
        callee: &str,
        type_arguments: &[Type],
        arguments: &[Expression],
    ) -> Result<Judged, Defect> {
        let mut judged = Vec::with_capacity(arguments.len());
        let mut cost = Cost::FREE;
        for (index, argument) in arguments.iter().enumerate() {
            let argument = self.expression(argument).under(index).under("args")?;
            cost = cost.and(argument.cost);
            judged.push(argument);
        }
        if callee.contains('@') {
            return self.function(callee, type_arguments, &judged, cost);
        }
        let (operands, result) = match type_arguments {
            [operands @ .., result] if builtin::names_result(callee) => (operands, Some(result)),
            operands => (operands, None),
        };
        if operands.len() != judged.len() {
            return Err(Defect::new("expected the types of the operands").under("typeArgs"));
        }
        for (index, ty) in type_arguments.iter().enumerate() {
            let table = self.environment.table();
            let checked = table
                .well_formed(ty)
                .and_then(|()| match judged.get(index) {
                    Some(operand) if !table.equivalent(&operand.ty, ty) => {
                        refuse(format!("the operand has type {}", operand.ty))
                    }
                    _ => Ok(()),
                });
            checked.under(index).under("typeArgs")?;
        }
        let call = builtin::Call {
            callee,
            result,
            arguments,
            judged: &judged,
        };
        let outcome = builtin::judge(&self.environment, &call)?;
        Ok(Judged {
            ty: outcome.ty,
            range: outcome.range,
            cost: cost.and(outcome.cost),
        })
    }

    fn function(
        &mut self,
        callee: &str,
        type_arguments: &[Type],
        arguments: &[Judged],
        cost: Cost,
    ) -> Result<Judged, Defect> {
        let Some(signature) = self.signatures.get(callee) else {
            return Err(Defect::new(format!("no function `{callee}`")).under("callee"));
        };
        if !type_arguments.is_empty() {
            return Err(Defect::new("a function takes no type arguments").under("typeArgs"));
        }
        if arguments.len() != signature.parameters.len() {
            let expected = signature.parameters.len();
            return Err(Defect::new(format!("takes {expected} arguments")).under("args"));
        }
        for (index, (argument, expected)) in arguments.iter().zip(&signature.parameters).enumerate()
        {
            if !self.environment.table().assignable(&argument.ty, expected) {
                let message = format!("expected {expected}, found {}", argument.ty);
                return Err(Defect::new(message).under(index).under("args"));
            }
        }
        Ok(Judged {
            ty: signature.result.clone(),
            range: None,
            cost: cost.and(signature.cost),
        })
    }
}

fn plain(ty: Type) -> Judged {
    Judged {
        ty,
        range: None,
        cost: Cost::FREE,
    }
}
