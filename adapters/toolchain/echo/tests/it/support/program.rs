// SPDX-License-Identifier: Apache-2.0
//! Small programs, written as JSON and sealed into packages with their reports.

use echo_host::{
    executable::Executable as _,
    package::{self, Installation},
    pin::{Authority, Budget, Pin, Policy},
    refusal::Refusal,
};
use edict_codec::{
    cbor::{Value, encode},
    digest::{TypedDigest, frame_typed},
    hex,
};
use serde_json::{Value as Json, json};

/// JSON as canonical data; `{"$bytes": hex}` is a byte string.
pub(crate) fn cbor(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::String(text) => Value::text(text.as_str()),
        Json::Number(number) => match number.as_u64() {
            Some(value) => Value::unsigned(value),
            None => Value::Integer(number.as_i64().unwrap().into()),
        },
        Json::Array(items) => Value::Array(items.iter().map(cbor).collect()),
        Json::Object(entries) => {
            if let (1, Some(Json::String(digits))) = (entries.len(), entries.get("$bytes")) {
                return Value::bytes(hex::decode(digits).unwrap());
            }
            Value::text_map(
                entries
                    .iter()
                    .map(|(key, value)| (key.as_str(), cbor(value))),
            )
        }
    }
}

fn digest(digest: &TypedDigest) -> Json {
    json!([
        digest.domain(),
        digest.algorithm().name(),
        {"$bytes": digest.hex()}
    ])
}

fn embedded(domain: &str, content: &Json) -> Json {
    let bytes = encode(&cbor(content));
    json!({
        "digest": digest(&frame_typed(domain, &bytes)),
        "bytes": {"$bytes": hex::encode(&bytes)},
    })
}

/// A program before it is sealed. Every member can be changed by a test.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) core: Json,
    pub(crate) target_ir: Json,
    pub(crate) projection: Option<Json>,
    pub(crate) exports: Json,
    pub(crate) budget: Json,
    pub(crate) types: Json,
    pub(crate) input: String,
    pub(crate) output: String,
    pub(crate) constraints: usize,
    pub(crate) obstructions: Json,
    pub(crate) effects: Json,
    pub(crate) footprint: Json,
    pub(crate) kind: &'static str,
}

pub(crate) const ROOMY: [u64; 3] = [1_000_000, 1_000_000, 65_536];

pub(crate) fn budget(limits: [u64; 3]) -> Json {
    json!({"maxSteps": limits[0], "maxAllocatedBytes": limits[1], "maxOutputBytes": limits[2]})
}

/// `local` of an id.
pub(crate) fn local(id: &str) -> Json {
    json!({"kind": "local", "id": id})
}

/// `id.field`.
pub(crate) fn field(base: &Json, name: &str) -> Json {
    json!({"kind": "field", "base": base, "field": name})
}

/// A field of the input.
pub(crate) fn input(name: &str) -> Json {
    field(&local("arg.0"), name)
}

pub(crate) fn constant(ty: &str, value: impl Into<Json>) -> Json {
    json!({"kind": "const", "type": ty, "value": value.into()})
}

pub(crate) fn binder(id: &str, ty: &str) -> Json {
    json!({"id": id, "name": format!("${}", id.replace('.', "")), "type": ty})
}

pub(crate) fn call(callee: &str, types: &[&str], args: &[Json]) -> Json {
    json!({"kind": "call", "callee": callee, "typeArgs": types, "args": args})
}

pub(crate) fn compare(op: &str, left: &Json, right: &Json) -> Json {
    json!({"kind": "compare", "op": op, "left": left, "right": right})
}

pub(crate) fn conditional(condition: &Json, then: &Json, otherwise: &Json) -> Json {
    json!({"kind": "if", "condition": condition, "then": then, "else": otherwise})
}

pub(crate) fn record(fields: &[(&str, Json)]) -> Json {
    let fields: Vec<Json> = fields
        .iter()
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect();
    json!({"kind": "record", "fields": fields})
}

/// `run.binding.N` with `local.N`.
pub(crate) fn binding(number: usize, ty: &str, value: &Json) -> Json {
    json!({
        "id": format!("run.binding.{number}"),
        "binding": binder(&format!("local.{number}"), ty),
        "value": value,
    })
}

pub(crate) fn raise(coordinate: &str, payload: Option<Json>) -> Json {
    json!({"kind": "call", "callee": coordinate, "typeArgs": [], "args": Vec::from_iter(payload)})
}

impl Program {
    /// A pure program without constraints. `fields` is the type text of the result and its fields
    /// are locals or paths.
    pub(crate) fn pure(input: &str, output: &str, result: &Json) -> Self {
        let budget = budget(ROOMY);
        let mut core_budget = budget.clone();
        core_budget["coordinate"] = json!("k@1.roomy");
        Self {
            core: json!({
                "apiVersion": "edict.core/v1",
                "coordinate": "m@1",
                "functions": {},
                "intents": {"run": {"budget": core_budget}},
            }),
            target_ir: json!({
                "kind": "orderedTargetIrArtifact",
                "domain": "echo.atoms-ir/v1",
                "targetProfile": {
                    "id": "echo.dpo@1",
                    "digest": ["sha256", {"$bytes": hex::encode(&package::TARGET_PROFILE)}],
                },
                "sourceCoreCoordinate": "m@1",
                "intents": {"run": {
                    "operationProfile": "k@1.pure",
                    "basis": null,
                    "inputConstraints": [],
                    "coreEvaluationBudget": budget,
                    "parameter": binder("arg.0", input),
                    "outputType": output,
                    "pureBindings": [],
                    "requirements": [],
                    "steps": [],
                    "regions": [],
                    "executionOrder": [],
                    "result": result,
                }},
            }),
            projection: None,
            exports: json!({"types": [], "pureFunctions": []}),
            budget,
            types: json!({}),
            input: input.to_owned(),
            output: output.to_owned(),
            constraints: 0,
            obstructions: json!([]),
            effects: json!([]),
            footprint: json!([]),
            kind: "pure",
        }
    }

    /// The intent in Target IR.
    pub(crate) fn intent(&mut self) -> &mut Json {
        &mut self.target_ir["intents"]["run"]
    }

    /// Adds an entry to one of the four lists and to the outermost order.
    pub(crate) fn then(mut self, list: &str, entry: Json) -> Self {
        let id = entry["id"].clone();
        self.intent()[list].as_array_mut().unwrap().push(entry);
        self.intent()["executionOrder"]
            .as_array_mut()
            .unwrap()
            .push(id);
        self
    }

    /// Adds an entry that stands in the order of a block only.
    pub(crate) fn inner(mut self, list: &str, entry: Json) -> Self {
        self.intent()[list].as_array_mut().unwrap().push(entry);
        self
    }

    /// Adds a function of Core.
    pub(crate) fn function(mut self, name: &str, function: Json) -> Self {
        self.core["functions"][name] = function;
        self
    }

    /// Adds constraints.
    pub(crate) fn constrained(mut self, predicates: &[Json]) -> Self {
        self.constraints = predicates.len();
        self.intent()["inputConstraints"] = predicates
            .iter()
            .enumerate()
            .map(|(number, predicate)| {
                json!({"id": format!("where.{number}"), "predicate": predicate})
            })
            .collect();
        self
    }

    /// Declares an obstruction.
    pub(crate) fn obstructed(mut self, coordinate: &str, payload: &str) -> Self {
        let row =
            json!({"coordinate": coordinate, "payloadType": payload, "class": "domainMappable"});
        self.obstructions.as_array_mut().unwrap().push(row);
        self
    }

    /// The same budget everywhere.
    pub(crate) fn limited(mut self, limits: [u64; 3]) -> Self {
        self.budget = budget(limits);
        self.intent()["coreEvaluationBudget"] = budget(limits);
        let mut core = budget(limits);
        core["coordinate"] = json!("k@1.roomy");
        self.core["intents"]["run"]["budget"] = core;
        self
    }

    fn projection(&self) -> Json {
        let result = &self.target_ir["intents"]["run"]["result"];
        self.projection.clone().unwrap_or_else(|| {
            json!({
                "schema": "edict.result-projection/v1",
                "operationCoordinate": "m@1.run",
                "outputType": self.output,
                "maxOutputBytes": self.budget["maxOutputBytes"],
                "expression": self.project(result),
            })
        })
    }

    fn project(&self, expr: &Json) -> Json {
        if expr["kind"] == "record" {
            let fields: serde_json::Map<String, Json> = expr["fields"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| {
                    let name = it["name"].as_str().unwrap().to_owned();
                    (name, self.project(&it["value"]))
                })
                .collect();
            return json!({"kind": "record", "fields": fields});
        }
        let (mut path, mut base) = (Vec::new(), expr);
        while base["kind"] == "field" {
            path.insert(0, base["field"].clone());
            base = &base["base"];
        }
        let source = self.source(&base["id"]);
        json!({"kind": "source", "source": source, "path": path})
    }

    fn source(&self, id: &Json) -> Json {
        let intent = &self.target_ir["intents"]["run"];
        for (list, kind, key) in [
            ("pureBindings", "pureBinding", "bindingId"),
            ("regions", "pureBinding", "bindingId"),
            ("steps", "capabilityResult", "stepId"),
        ] {
            for entry in intent[list].as_array().into_iter().flatten() {
                if entry["binding"]["id"] == *id {
                    return json!({"kind": kind, key: entry["id"]});
                }
            }
        }
        json!({"kind": "applicationInput"})
    }

    /// The maps of package and report, all digests right.
    pub(crate) fn build(&self) -> Build {
        let core = embedded("edict.core.module/v1", &self.core);
        let manifest = json!(["edict.lawpack/v1", "sha256", {"$bytes": "11".repeat(32)}]);
        let mut target_ir = self.target_ir.clone();
        if target_ir["semanticClosure"].is_null() {
            target_ir["semanticClosure"] = json!({
                "sourceCore": core["digest"],
                "lawpacks": [{"coordinate": "k@1", "manifest": manifest}],
            });
        }
        let exports = embedded("k.exports/v1", &self.exports);
        let package = json!({
            "schema": "echo.program-package/v1",
            "kind": self.kind,
            "operation": "m@1.run",
            "targetProfile": ["edict.target-profile/v1", "sha256", {
                "$bytes": hex::encode(&package::TARGET_PROFILE),
            }],
            "interpreter": package::INTERPRETER,
            "costLaw": package::COST_LAW,
            "codec": package::CODEC,
            "source": ["edict.source/v1", "sha256", {"$bytes": "22".repeat(32)}],
            "core": core,
            "targetIr": embedded("edict.target-ir.artifact/v1", &target_ir),
            "projection": embedded("edict.result-projection.artifact/v1", &self.projection()),
            "lawpacks": [{"coordinate": "k@1", "manifest": manifest, "exports": exports}],
            "budget": self.budget,
            "staticBound": {"steps": 1, "allocatedBytes": 2, "outputBytes": 3},
            "types": self.types,
            "inputType": self.input,
            "outputType": self.output,
            "constraints": (0..self.constraints).map(|it| format!("where.{it}")).collect::<Vec<_>>(),
            "obstructions": self.obstructions,
            "effects": self.effects,
            "footprint": self.footprint,
        });
        let mut report = json!({
            "apiVersion": "edict.verification-report/v1",
            "outcome": "accepted",
            "verifier": {"name": "stand-in", "version": "0"},
            "package": null,
            "checked": ["package"],
            "notChecked": ["source-text"],
            "diagnostics": [],
            "lawpacks": [{
                "coordinate": "k@1",
                "manifest": package["lawpacks"][0]["manifest"],
                "exports": package["lawpacks"][0]["exports"]["digest"],
            }],
        });
        for key in ["core", "targetIr", "projection"] {
            report[key] = package[key]["digest"].clone();
        }
        for key in [
            "operation",
            "source",
            "targetProfile",
            "budget",
            "staticBound",
        ] {
            report[key] = package[key].clone();
        }
        Build { package, report }
    }

    /// The installation.
    pub(crate) fn admit(&self) -> Result<Installation, Refusal> {
        self.build().seal().admit()
    }
}

/// Maps of a package and its report; sealing pins them.
#[derive(Clone, Debug)]
pub(crate) struct Build {
    pub(crate) package: Json,
    pub(crate) report: Json,
}

impl Build {
    /// The bytes, their pins, and a policy that allows everything the package declares.
    pub(crate) fn seal(mut self) -> Sealed {
        let package = encode(&cbor(&self.package));
        if self.report["package"].is_null() {
            self.report["package"] = digest(&frame_typed("echo.program-package/v1", &package));
        }
        let report = encode(&cbor(&self.report));
        Sealed::of(package, report)
    }
}

/// What a client sends.
#[derive(Clone, Debug)]
pub(crate) struct Sealed {
    pub(crate) package: Vec<u8>,
    pub(crate) package_pin: Pin,
    pub(crate) report: Vec<u8>,
    pub(crate) report_pin: Pin,
    pub(crate) policy: Policy,
}

impl Sealed {
    /// Bytes with their pins.
    pub(crate) fn of(package: Vec<u8>, report: Vec<u8>) -> Self {
        Self {
            package_pin: pin("echo.program-package/v1", &package),
            report_pin: pin("edict.verification-report/v1", &report),
            policy: Policy {
                operation: "m@1.run".to_owned(),
                authority: Authority::Atoms,
                max_budget: Budget {
                    max_steps: u64::MAX,
                    max_allocated_bytes: u64::MAX,
                    max_output_bytes: u64::MAX,
                },
            },
            package,
            report,
        }
    }

    /// The installation.
    pub(crate) fn admit(&self) -> Result<Installation, Refusal> {
        package::admit(
            &self.package,
            &self.package_pin,
            &self.report,
            &self.report_pin,
            &self.policy,
        )
    }
}

fn pin(domain: &str, bytes: &[u8]) -> Pin {
    let digest = frame_typed(domain, bytes);
    Pin {
        domain: domain.to_owned(),
        algorithm: "sha256".to_owned(),
        bytes: *digest.bytes(),
    }
}

/// The canonical bytes of JSON data.
pub(crate) fn bytes(json: &Json) -> Vec<u8> {
    encode(&cbor(json))
}

/// The declared budget of an installation.
pub(crate) fn declared(installation: &Installation) -> Budget {
    installation.facts().budget
}
