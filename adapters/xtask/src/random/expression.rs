// SPDX-License-Identifier: Apache-2.0
//! Expressions of a wanted type: their own type is always assignable to it.

use super::{
    scope::{Callee, Fact, Generator},
    types::{Ty, Width},
    value,
};

impl Generator<'_> {
    /// Takes one node from the fuel.
    pub(super) fn spend(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        self.fuel > 0
    }

    /// An expression whose type is assignable to `ty`. Where the place itself gives a type
    /// (`typed`), literals may leave theirs out.
    pub(super) fn expression(&mut self, ty: &Ty, depth: usize, typed: bool) -> String {
        let leaf = depth == 0 || !self.spend();
        match ty {
            Ty::Int(width) if typed && self.tape.chance(20) => {
                value::integer(self.tape, *width).to_string()
            }
            Ty::Int(width) => self.integer(*width, depth).0,
            Ty::Bool => self.condition(depth),
            _ if leaf => self.leaf(ty, typed),
            _ => match self.tape.below(5) {
                0 => self.leaf(ty, typed),
                1 => self.general(ty, depth - 1),
                _ => self.built(ty, depth - 1, typed),
            },
        }
    }

    /// A place that fits, or the plainest value of the type.
    fn leaf(&mut self, ty: &Ty, typed: bool) -> String {
        if self.tape.chance(60)
            && let Some(place) = self.place(|types, it| types.assignable(it, ty))
        {
            return place.text;
        }
        self.literal(ty, typed)
    }

    fn literal(&mut self, ty: &Ty, typed: bool) -> String {
        match ty {
            Ty::Bool => "false".to_owned(),
            Ty::Int(width) => format!("{}{}", value::integer(self.tape, *width), width.suffix()),
            Ty::Str(max) => value::string_literal(&value::string(self.tape, (*max).min(9))),
            Ty::Bytes(min, max) => {
                let max = (*max).min(min + 9);
                value::bytes_literal(&value::bytes(self.tape, *min, max))
            }
            Ty::Opt(item) if self.tape.chance(50) => format!("none<{}>()", self.types.text(item)),
            Ty::Opt(item) => {
                let inner = self.literal(item, false);
                format!("some({inner})")
            }
            Ty::List(_, _) if typed => "[]".to_owned(),
            Ty::List(item, max) => self.empty_list(item, *max),
            Ty::Record(at) => self.record(*at, 0, typed),
            Ty::Variant(at) => self.case(*at, 0),
            Ty::Tag => {
                let bytes = value::bytes(self.tape, 4, 4);
                format!("wrap<kit.Tag>({})", value::bytes_literal(&bytes))
            }
        }
    }

    /// An empty list with a type of its own.
    fn empty_list(&mut self, item: &Ty, max: u64) -> String {
        let text = self.types.text(item);
        if max == 0 {
            let one = self.literal(item, false);
            return format!("default(narrow<List<{text}, max=0>>([{one}]), [])");
        }
        let one = self.literal(item, false);
        format!("[{one}]")
    }

    /// Forms that every type has: conditionals, matches, calls, proofs and defaults.
    pub(super) fn general(&mut self, ty: &Ty, depth: usize) -> String {
        match self.tape.below(8) {
            0 | 1 => {
                let condition = self.condition(depth);
                let then = self.expression(ty, depth, false);
                let otherwise = self.expression(ty, depth, false);
                format!("(if {condition} then {then} else {otherwise})")
            }
            2 => self.match_variant(ty, depth),
            3 => self.match_option(ty, depth),
            4 | 5 => self.called(ty, depth),
            6 => self.unwrapped(ty, depth),
            _ if matches!(ty, Ty::Opt(_)) => self.leaf(ty, false),
            _ => {
                let option = self.exact_option(ty, depth);
                let otherwise = self.expression(ty, depth, false);
                format!("default({option}, {otherwise})")
            }
        }
    }

    fn match_variant(&mut self, ty: &Ty, depth: usize) -> String {
        let at = self.tape.below(self.types.variants.len());
        let matched = self.expression(&Ty::Variant(at), depth, false);
        let cases = self.types.cases(at).to_vec();
        let arms: Vec<String> = cases
            .iter()
            .map(|(name, payload)| {
                self.inner(|it| match payload {
                    Some(payload) if it.tape.chance(80) => {
                        let binder = it.name();
                        it.bind(&binder, payload, None);
                        let body = it.expression(ty, depth, false);
                        format!("{name}({binder}) => {body}")
                    }
                    _ => {
                        let body = it.expression(ty, depth, false);
                        format!("{name} => {body}")
                    }
                })
            })
            .collect();
        format!("(match {matched} {{ {} }})", arms.join(", "))
    }

    fn match_option(&mut self, ty: &Ty, depth: usize) -> String {
        let item = match self.types.draw(self.tape, 1) {
            Ty::Opt(item) => *item,
            other => other,
        };
        let matched = self.expression(&Ty::Opt(Box::new(item.clone())), depth, false);
        let none = self.expression(ty, depth, false);
        let binder = self.name();
        let some = self.inner(|it| {
            it.bind(&binder, &item, None);
            it.expression(ty, depth, false)
        });
        if self.tape.chance(50) {
            format!("(match {matched} {{ None => {none}, Some({binder}) => {some} }})")
        } else {
            format!("(match {matched} {{ Some({binder}) => {some}, None => {none} }})")
        }
    }

    fn called(&mut self, ty: &Ty, depth: usize) -> String {
        let fitting: Vec<_> = self
            .callees
            .iter()
            .filter(|it| self.types.assignable(&it.result, ty))
            .cloned()
            .collect();
        if fitting.is_empty() {
            return self.leaf(ty, false);
        }
        self.called_of(&fitting, depth)
    }

    /// A call of one of these.
    fn called_of(&mut self, callees: &[Callee], depth: usize) -> String {
        let Some(callee) = self.tape.pick(callees).cloned() else {
            return String::new();
        };
        let arguments: Vec<String> = callee
            .parameters
            .iter()
            .map(|ty| self.expression(ty, depth, true))
            .collect();
        format!("{}({})", callee.name, arguments.join(", "))
    }

    /// `unwrap` under a proof.
    fn unwrapped(&mut self, ty: &Ty, depth: usize) -> String {
        let wanted = ty.clone();
        let place = self.place(|types, it| match it {
            Ty::Opt(item) => types.assignable(item, &wanted),
            _ => false,
        });
        let Some(place) = place else {
            return self.leaf(ty, false);
        };
        let path = place.text;
        if self.facts.contains(&Fact::Some(path.clone())) && self.tape.chance(70) {
            return format!("unwrap({path})");
        }
        let other = self.expression(ty, depth, false);
        match self.tape.below(3) {
            0 => format!("(if isSome({path}) then unwrap({path}) else {other})"),
            1 => format!("(if !isSome({path}) then {other} else unwrap({path}))"),
            _ => {
                let more = self.condition(depth);
                format!("(if isSome({path}) && {more} then unwrap({path}) else {other})")
            }
        }
    }

    /// Forms of this very type.
    fn built(&mut self, ty: &Ty, depth: usize, typed: bool) -> String {
        match ty {
            Ty::Str(max) => self.string(*max, depth),
            Ty::Bytes(min, max) => self.byte_string(*min, *max, depth),
            Ty::Opt(item) => self.option(item, depth),
            Ty::List(item, max) => self.list(item, *max, depth, typed),
            Ty::Record(at) => self.record(*at, depth, typed),
            Ty::Variant(at) => self.case(*at, depth),
            Ty::Tag => {
                let bytes = self.expression(&Ty::Bytes(4, 4), depth, false);
                format!("wrap<kit.Tag>({bytes})")
            }
            Ty::Bool | Ty::Int(_) => self.leaf(ty, typed),
        }
    }

    fn string(&mut self, max: u64, depth: usize) -> String {
        let ty = format!("String<max={max}>");
        match self.tape.below(6) {
            0 if max >= 2 => {
                let left = self.expression(&Ty::Str(max / 2), depth, false);
                let right = self.expression(&Ty::Str(max / 2), depth, false);
                format!("({left} + {right})")
            }
            1 => {
                let width = self.tape.pick(&Width::ALL).copied().unwrap_or(Width::U32);
                let (number, ..) = self.integer(width, depth);
                if width.digits() <= max {
                    format!("decimal({number})")
                } else {
                    format!("default(narrow<{ty}>(decimal({number})), \"\")")
                }
            }
            2 => {
                let bytes = self.expression(&Ty::Bytes(0, max / 2), depth, false);
                format!("hex({bytes})")
            }
            3 => {
                let bytes = self.expression(&Ty::Bytes(0, max), depth, false);
                format!("default(utf8Decode({bytes}), \"\")")
            }
            _ => {
                let wide = self.expression(&Ty::Str(max + 8), depth, false);
                let otherwise = self.literal(&Ty::Str(max), false);
                format!("default(narrow<{ty}>({wide}), {otherwise})")
            }
        }
    }

    fn byte_string(&mut self, min: u64, max: u64, depth: usize) -> String {
        let ty = self.types.text(&Ty::Bytes(min, max));
        let short = value::bytes_literal(&value::bytes(self.tape, min, min));
        match (self.tape.below(7), min) {
            (0, 0) if max >= 2 => {
                let left = self.expression(&Ty::Bytes(0, max / 2), depth, false);
                let right = self.expression(&Ty::Bytes(0, max / 2), depth, false);
                format!("({left} + {right})")
            }
            (1, 0) => {
                let text = self.expression(&Ty::Str(max / 4), depth, false);
                format!("utf8Encode({text})")
            }
            (2 | 3, 0) => self.sliced(max, depth),
            (4, _) if min <= 4 && max >= 4 => {
                let tag = self.expression(&Ty::Tag, depth, false);
                format!("raw({tag})")
            }
            (5, _) => {
                let wide = self.expression(&Ty::Bytes(0, max + 8), depth, false);
                let (start, end) = (self.index(depth), self.index(depth));
                let slice = format!("checkedSlice({wide}, {start}, {end})");
                format!("default(narrow<{ty}>(default({slice}, b\"\")), {short})")
            }
            _ => {
                let wide = self.expression(&Ty::Bytes(0, max + 8), depth, false);
                format!("default(narrow<{ty}>({wide}), {short})")
            }
        }
    }

    /// `slice` under a proof.
    fn sliced(&mut self, max: u64, depth: usize) -> String {
        let of = self.place(|_, ty| matches!(ty, Ty::Bytes(_, high) if *high <= max));
        let start = self.place(|_, ty| *ty == Ty::Int(Width::U64));
        let end = self.place(|_, ty| *ty == Ty::Int(Width::U64));
        match (of, start, end) {
            (Some(of), Some(start), Some(end)) if self.tape.chance(60) => {
                let (of, start, end) = (of.text, start.text, end.text);
                let other = self.leaf(&Ty::Bytes(0, max), false);
                if self.tape.chance(50) {
                    format!(
                        "(if {start} <= {end} && {end} <= len({of}) then slice({of}, {start}, {end}) else {other})"
                    )
                } else {
                    format!(
                        "(if {start} > {end} || len({of}) < {end} then {other} else slice({of}, {start}, {end}))"
                    )
                }
            }
            (Some(of), ..) => format!("slice({0}, 0, len({0}))", of.text),
            (None, Some(_), _) => self.general(&Ty::Bytes(0, max), depth),
            _ => "b\"\"".to_owned(),
        }
    }

    /// An option of exactly this item type, which the second part of a `default` must fit.
    fn exact_option(&mut self, item: &Ty, depth: usize) -> String {
        let option = Ty::Opt(Box::new(item.clone()));
        if self.tape.chance(50)
            && let Some(place) = self.place(|_, ty| *ty == option)
        {
            return place.text;
        }
        let exact: Vec<_> = self
            .callees
            .iter()
            .filter(|it| it.result == option)
            .cloned()
            .collect();
        match self.tape.below(4) {
            0 => format!("none<{}>()", self.types.text(item)),
            1 if !exact.is_empty() => self.called_of(&exact, depth),
            2 if let Ty::Int(width) = item => {
                let (left, ..) = self.integer(*width, depth);
                let (right, ..) = self.integer(*width, depth);
                format!("checkedSub({left}, {right})")
            }
            _ => {
                let inner = self.expression(item, depth, true);
                format!("some<{}>({inner})", self.types.text(item))
            }
        }
    }

    fn option(&mut self, item: &Ty, depth: usize) -> String {
        match (self.tape.below(6), item) {
            (0, _) => format!("none<{}>()", self.types.text(item)),
            (1, _) => {
                let inner = self.expression(item, depth, true);
                format!("some<{}>({inner})", self.types.text(item))
            }
            (2 | 3, Ty::Int(width)) => {
                let (left, ..) = self.integer(*width, depth);
                let (right, ..) = self.integer(*width, depth);
                let name = self.tape.pick(&["Add", "Sub", "Mul", "Div", "Rem"]);
                format!("checked{}({left}, {right})", name.copied().unwrap_or("Add"))
            }
            (2 | 3, Ty::Bytes(0, max)) => {
                let of = self.expression(&Ty::Bytes(0, *max), depth, false);
                let (start, end) = (self.index(depth), self.index(depth));
                format!("checkedSlice({of}, {start}, {end})")
            }
            (2 | 3, Ty::Str(max)) => {
                let of = self.expression(&Ty::Bytes(0, *max), depth, false);
                format!("utf8Decode({of})")
            }
            (2 | 3, Ty::List(inner, max)) => {
                let wide = Ty::List(inner.clone(), max + 2);
                let of = self.expression(&wide, depth, false);
                format!("narrow<{}>({of})", self.types.text(item))
            }
            (4, _) => {
                let list = Ty::List(Box::new(item.clone()), 3);
                let list = self.expression(&list, depth, false);
                let index = self.index(depth);
                format!("at({list}, {index})")
            }
            _ => {
                let inner = self.expression(item, depth, false);
                format!("some({inner})")
            }
        }
    }

    fn list(&mut self, item: &Ty, max: u64, depth: usize, typed: bool) -> String {
        let least = usize::from(!typed);
        let most = usize::try_from(max).unwrap_or(0).min(4);
        if most < least {
            return self.empty_list(item, max);
        }
        let count = least + self.tape.below(most - least + 1);
        let items: Vec<String> = (0..count)
            .map(|_| self.expression(item, depth, false))
            .collect();
        format!("[{}]", items.join(", "))
    }

    fn record(&mut self, at: usize, depth: usize, typed: bool) -> String {
        let fields = self.types.fields(at).to_vec();
        let fields: Vec<String> = fields
            .iter()
            .map(|(name, ty)| format!("{name}: {}", self.expression(ty, depth, typed)))
            .collect();
        format!("{{ {} }}", fields.join(", "))
    }

    fn case(&mut self, at: usize, depth: usize) -> String {
        let Some((case, payload)) = self.tape.pick(self.types.cases(at)).cloned() else {
            return String::new();
        };
        let name = self
            .types
            .variants
            .get(at)
            .map_or("", |it| it.name.as_str())
            .to_owned();
        match payload {
            Some(ty) => {
                let payload = self.expression(&ty, depth, true);
                format!("{name}::{case}({payload})")
            }
            None if name.starts_with('E') && self.tape.chance(50) => format!("{name}.{case}"),
            None => format!("{name}::{case}"),
        }
    }
}
