// SPDX-License-Identifier: Apache-2.0
//! Parses the module head, declarations and intent clauses.

use super::{Parsed, Parser};
use crate::diagnostic::{Finding, Kind, LineIndex, Span};
use crate::syntax::ast::{
    Ast, Clause, ClauseKind, Declaration, FunctionDecl, Import, ImportKind, IntentDecl, Name,
    PackageRef, Param, TypeBody, TypeDecl, TypeExpr,
};
use crate::syntax::token::{TokenKind, UNSUPPORTED};
use std::collections::BTreeSet;

impl Parser<'_> {
    pub(super) fn module(&mut self) -> Parsed<Ast> {
        self.expect_word("package")?;
        let package = self.package_ref()?;
        self.expect_sign(";")?;
        let mut imports = Vec::new();
        while self.take_word("use") {
            imports.push(self.import()?);
        }
        let mut declarations = Vec::new();
        while self.token().kind != TokenKind::End {
            declarations.push(self.declaration()?);
        }
        Ok(Ast {
            package,
            imports,
            declarations,
            lines: LineIndex::default(),
        })
    }

    fn package_ref(&mut self) -> Parsed<PackageRef> {
        let path = self.path()?;
        self.expect_sign("@")?;
        if self.token().kind != TokenKind::Version {
            return Err(self.unexpected(
                Kind::InvalidVersion,
                "a version that starts with a digit",
                "copy it from the manifest sidecar",
            ));
        }
        let version = self.any_name();
        Ok(PackageRef {
            coordinate: format!("{}@{}", path.text(), version.text),
            span: path.span.to(version.span),
        })
    }

    fn import(&mut self) -> Parsed<Import> {
        let kind = if self.take_word("lawpack") {
            ImportKind::Lawpack
        } else if self.take_word("target") {
            ImportKind::Target
        } else if ["shape", "core", "capability"]
            .iter()
            .any(|it| self.is_word(it))
        {
            return Err(self.unsupported("import types and effects with `use lawpack`"));
        } else {
            return Err(self.unexpected(
                Kind::ExpectedKeyword,
                "`lawpack` or `target`",
                "insert `lawpack`",
            ));
        };
        let package = self.package_ref()?;
        let digest = if self.take_word("digest") {
            Some(self.digest()?)
        } else {
            None
        };
        self.expect_word("as")?;
        let alias = self.name()?;
        self.expect_sign(";")?;
        Ok(Import {
            kind,
            package,
            digest,
            alias,
        })
    }

    fn digest(&mut self) -> Parsed<([u8; 32], Span)> {
        let span = self.span();
        let TokenKind::Text(text) = &self.token().kind else {
            return Err(self.unexpected(
                Kind::InvalidDigest,
                "a digest literal",
                "copy it from the manifest sidecar",
            ));
        };
        let bytes = text.strip_prefix("sha256:").and_then(hex_digest);
        let Some(bytes) = bytes else {
            return Err(Finding::new(
                Kind::InvalidDigest,
                span,
                "a digest is `sha256:` and 64 hexadecimal digits",
            )
            .help("copy it from the manifest sidecar"));
        };
        self.bump();
        Ok((bytes, span))
    }

    fn declaration(&mut self) -> Parsed<Declaration> {
        let word = match self.token().kind {
            TokenKind::Ident | TokenKind::Keyword => self.word(self.token()),
            _ => "",
        };
        match word {
            "type" => self.type_declaration(),
            "enum" => {
                self.bump();
                let name = self.declared_name()?;
                let body = TypeBody::Variant(self.cases(false)?);
                Ok(Declaration::Type(TypeDecl { name, body }))
            }
            "fn" => self.function(),
            "intent" | "action" => self.intent(),
            _ if UNSUPPORTED.contains(&word) => {
                Err(self.unsupported("declare a `type`, `enum`, `fn` or `intent`"))
            }
            _ => Err(self.unexpected(
                Kind::ExpectedKeyword,
                "a declaration",
                "start it with `type`, `enum`, `fn` or `intent`; `use` stands before them",
            )),
        }
    }

    /// A type name; type parameters behind it are refused.
    fn declared_name(&mut self) -> Parsed<Name> {
        let name = self.upper()?;
        self.no_type_parameters()?;
        Ok(name)
    }

    fn no_type_parameters(&self) -> Parsed<()> {
        if self.is_sign("<") {
            return Err(
                self.unsupported("declarations have no type parameters; declare one a type")
            );
        }
        Ok(())
    }

    fn type_declaration(&mut self) -> Parsed<Declaration> {
        self.bump();
        let name = self.declared_name()?;
        self.expect_sign("=")?;
        let body = if self.is_sign("{") {
            TypeBody::Record(self.record_type()?)
        } else if self.take_word("variant") {
            TypeBody::Variant(self.cases(true)?)
        } else {
            TypeBody::Alias(self.type_expr()?)
        };
        self.expect_sign(";")?;
        Ok(Declaration::Type(TypeDecl { name, body }))
    }

    fn record_type(&mut self) -> Parsed<Vec<(Name, TypeExpr)>> {
        self.enter()?;
        self.expect_sign("{")?;
        let mut seen = BTreeSet::new();
        let fields = self.list("}", |it| {
            let name = it.any_word()?;
            unique(&mut seen, &name, "field")?;
            it.expect_sign(":")?;
            let ty = it.type_expr()?;
            if it.is_word("where") {
                return Err(it.unsupported("fields have no constraints; use `where` of the intent"));
            }
            Ok((name, ty))
        })?;
        self.leave();
        Ok(fields)
    }

    fn cases(&mut self, with_payload: bool) -> Parsed<Vec<(Name, Option<TypeExpr>)>> {
        if self.is_sign("{") {
            self.enter()?;
        }
        self.expect_sign("{")?;
        if self.is_sign("}") {
            return Err(
                Finding::new(Kind::EmptyEnum, self.span(), "needs at least one case")
                    .help("add a case"),
            );
        }
        let mut seen = BTreeSet::new();
        let cases = self.list("}", |it| {
            let name = it.upper()?;
            unique(&mut seen, &name, "case")?;
            if !with_payload || !it.is_sign("(") {
                return Ok((name, None));
            }
            it.enter()?;
            it.bump();
            let payload = it.type_expr()?;
            it.expect_sign(")")?;
            it.leave();
            Ok((name, Some(payload)))
        })?;
        self.leave();
        Ok(cases)
    }

    fn params(&mut self) -> Parsed<Vec<Param>> {
        self.no_type_parameters()?;
        self.expect_sign("(")?;
        self.list(")", |it| {
            let name = it.name()?;
            it.expect_sign(":")?;
            let ty = it.type_expr()?;
            Ok(Param { name, ty })
        })
    }

    fn function(&mut self) -> Parsed<Declaration> {
        self.bump();
        let name = self.name()?;
        let params = self.params()?;
        self.expect_sign("->")?;
        let result = self.type_expr()?;
        let body = self.block()?;
        Ok(Declaration::Function(FunctionDecl {
            name,
            params,
            result,
            body,
        }))
    }

    fn intent(&mut self) -> Parsed<Declaration> {
        self.bump();
        let name = self.name()?;
        let params = self.params()?;
        self.expect_word("returns")?;
        let result = self.type_expr()?;
        let mut clauses = Vec::new();
        while let Some(clause) = self.clause()? {
            clauses.push(clause);
        }
        let body = self.block()?;
        Ok(Declaration::Intent(IntentDecl {
            name,
            params,
            result,
            clauses,
            body,
        }))
    }

    fn clause(&mut self) -> Parsed<Option<Clause>> {
        let word = match self.token().kind {
            TokenKind::Keyword => self.word(self.token()),
            _ => return Ok(None),
        };
        let keyword = self.span();
        let kind = match word {
            "profile" => {
                self.bump();
                ClauseKind::Profile(self.path()?)
            }
            "basis" => {
                self.bump();
                let call = self.token_after().kind == TokenKind::Sign("(")
                    || self.type_lists.get(self.at.saturating_add(1)) == Some(&true);
                if self.is_word("none") && !call {
                    self.bump();
                    ClauseKind::Basis(None)
                } else {
                    ClauseKind::Basis(Some(self.expr()?))
                }
            }
            "budget" => {
                self.bump();
                self.expect_sign("<=")?;
                ClauseKind::Budget(self.path()?)
            }
            "where" => {
                self.bump();
                let mut parts = vec![self.expr()?];
                while self.take_sign(",") {
                    parts.push(self.expr()?);
                }
                ClauseKind::Where(parts)
            }
            _ if UNSUPPORTED.contains(&word) => {
                return Err(self.unsupported("the clauses are profile, basis, budget and where"));
            }
            _ => return Ok(None),
        };
        Ok(Some(Clause { keyword, kind }))
    }
}

/// Notes a field or case, or refuses its repetition.
pub(super) fn unique(seen: &mut BTreeSet<String>, name: &Name, what: &str) -> Parsed<()> {
    if seen.insert(name.text.clone()) {
        return Ok(());
    }
    Err(Finding::new(
        Kind::DuplicateField,
        name.span,
        format!("{what} `{}` is already declared", name.text),
    )
    .help("remove it"))
}

fn hex_digest(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.bytes().all(|it| it.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; 32];
    for (index, byte) in bytes.iter_mut().enumerate() {
        let at = index.saturating_mul(2);
        *byte = u8::from_str_radix(text.get(at..at.saturating_add(2))?, 16).ok()?;
    }
    Some(bytes)
}
