// SPDX-License-Identifier: Apache-2.0
//! Packages of shape `upstream` as programs: `echo.operation-package/v1` with the program that
//! creates an attachment if there is none (`docs/anchored-operations.md`).

use super::fields::{Field, Malformed};
use super::program::{Artifact, FootprintRow, ObstructionRow, ProgramKind, ProgramPackage};
use super::report::VerificationReport;
use super::upstream::{OPERATION_PACKAGE_SCHEMA, OperationPackage, OperationReport};
use super::{
    CORE_DOMAIN, Counters, ExecutionBudget, LAWPACK_DOMAIN, MAX_PACKAGE_BYTES, PROJECTION_DOMAIN,
    PackageError, SOURCE_DOMAIN, TARGET_IR_DOMAIN, TARGET_PROFILE_DOMAIN, decode_file, decode_item,
};
use crate::declared_type::{DeclaredType, TypeTable};
use edict_codec::cbor::{Value, decode, encode};
use edict_codec::digest::{Algorithm, TypedDigest, derive_typed, frame_typed};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The profile that a host is asked for, and the interpreter of its records.
pub const ANCHORED_PROFILE: &str = "echo.anchored-operation/v1";
const COST_LAW: &str = "echo.anchored-cost/v1";
const PROGRAM_KIND: &str = "anchored-node-attachment-create-if-absent/v1";
const CREATE: &str = "echo.dpo@1.atom.create";

/// What such a package has and no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchored {
    /// Coordinate of the one lawpack.
    pub lawpack_coordinate: String,
    /// Identity of its manifest.
    pub lawpack: TypedDigest,
    /// Most bytes of a result.
    pub max_output_bytes: u64,
    result: Expression,
}

/// How the result is put together from the application input.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Expression {
    Input(Vec<String>),
    Record(Vec<(String, Expression)>),
}

impl Anchored {
    /// The result that an input must come to; `None` when the input lacks what it needs.
    pub fn result(&self, input: &[u8]) -> Option<Vec<u8>> {
        let input = decode(input).ok()?;
        self.result.over(&input).map(|value| encode(&value))
    }
}

impl Expression {
    fn over(&self, input: &Value) -> Option<Value> {
        match self {
            Self::Input(path) => path
                .iter()
                .try_fold(input, |at, step| at.get(step))
                .cloned(),
            Self::Record(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, field)| Some((name.clone(), field.over(input)?)))
                    .collect::<Option<Vec<_>>>()?;
                Some(Value::text_map(fields))
            }
        }
    }

    fn decode(field: &Field<'_>) -> Result<Self, Malformed> {
        let kind = field.get("kind")?;
        match kind.text()? {
            "record" => {
                let fields = field.get("fields")?.entries()?;
                let fields = fields
                    .into_iter()
                    .map(|(name, field)| Ok((name.to_owned(), Self::decode(&field)?)))
                    .collect::<Result<_, Malformed>>()?;
                Ok(Self::Record(fields))
            }
            "source" => {
                let steps = field.get("path")?.items()?;
                let steps = steps.iter().map(|it| Ok(it.text()?.to_owned()));
                Ok(Self::Input(steps.collect::<Result<_, Malformed>>()?))
            }
            _ => Err(kind.fail("neither `record` nor `source`")),
        }
    }
}

/// Decodes a package of this schema.
pub(super) fn package(bytes: &[u8]) -> Result<ProgramPackage, PackageError> {
    let operation = OperationPackage::decode(bytes)?;
    let value = decode_file(bytes, MAX_PACKAGE_BYTES)?;
    let root = Field::root(&value);
    let (space, max_replacement_bytes) = program(&root.get("program")?)?;
    let result = root
        .get("application_result_projection")?
        .get("runtime_expression")?;
    let projection = projection(&operation)?;
    let artifact = |domain: &str, bytes: [u8; 32]| Artifact {
        digest: TypedDigest::new(domain, Algorithm::Sha256, bytes),
        bytes: Arc::from([]),
    };
    let footprint = vec![FootprintRow {
        space,
        intrinsic: CREATE.to_owned(),
        max_calls: 1,
    }];
    let empty = Arc::new(DeclaredType::Record(BTreeMap::new()));
    let schema = |key: &str| -> Result<String, Malformed> {
        let identity = root.get(key)?.bytes_32()?;
        Ok(format!(
            "echo.schema/{}",
            edict_codec::hex::encode(&identity)
        ))
    };
    Ok(ProgramPackage {
        digest: operation.digest.clone(),
        kind: ProgramKind::Anchored,
        operation: operation.operation.clone(),
        target_profile: artifact(TARGET_PROFILE_DOMAIN, operation.target_profile).digest,
        interpreter: ANCHORED_PROFILE.to_owned(),
        cost_law: COST_LAW.to_owned(),
        codec: "edict.canonical-cbor/v1".to_owned(),
        source: artifact(SOURCE_DOMAIN, operation.source).digest,
        core: artifact(CORE_DOMAIN, operation.core),
        target_ir: artifact(TARGET_IR_DOMAIN, operation.target_ir),
        projection: projection.0,
        lawpacks: Vec::new(),
        budget: budget(&root.get("budget_ceiling")?)?,
        static_bound: Counters {
            steps: 2,
            allocated_bytes: 0,
            output_bytes: max_replacement_bytes,
        },
        types: TypeTable::default(),
        input_type: schema("input_schema_identity")?,
        input: Arc::clone(&empty),
        output_type: schema("result_schema_identity")?,
        output: Arc::clone(&empty),
        constraints: Vec::new(),
        obstructions: vec![ObstructionRow {
            coordinate: root.get("obstruction_coordinate")?.coordinate()?,
            payload_type: "Record<>".to_owned(),
            payload: empty,
            class: "domainMappable".to_owned(),
        }],
        effects: Vec::new(),
        declared_footprint: derive_typed("echo/footprint-declared/v1", &declared(&footprint)),
        footprint,
        anchored: Some(Arc::new(Anchored {
            lawpack: artifact(LAWPACK_DOMAIN, operation.lawpack).digest,
            lawpack_coordinate: operation.lawpack_coordinate,
            max_output_bytes: projection.1,
            result: Expression::decode(&result)?,
        })),
    })
}

/// The embedded projection, its identity recomputed, and the most bytes of a result.
fn projection(operation: &OperationPackage) -> Result<(Artifact, u64), PackageError> {
    let bytes = &operation.projection_bytes;
    let stated = TypedDigest::new(PROJECTION_DOMAIN, Algorithm::Sha256, operation.projection);
    let actual = frame_typed(PROJECTION_DOMAIN, bytes);
    if stated != actual {
        return Err(PackageError::ArtifactDigestMismatch {
            path: ".projection".to_owned(),
            stated: Box::new(stated),
            actual: Box::new(actual),
        });
    }
    let value = decode_item(bytes).map_err(|error| PackageError::ArtifactNotCanonical {
        path: ".projection".to_owned(),
        error,
    })?;
    let most = Field::root(&value).get("maxOutputBytes")?.unsigned()?;
    let artifact = Artifact {
        digest: stated,
        bytes: Arc::from(bytes.as_slice()),
    };
    Ok((artifact, most))
}

/// The space of the attachments and the most bytes of one.
fn program(field: &Field<'_>) -> Result<(String, u64), PackageError> {
    let value =
        decode_item(field.bytes()?).map_err(|error| PackageError::ArtifactNotCanonical {
            path: ".program".to_owned(),
            error,
        })?;
    let root = Field::root(&value);
    root.get("kind")?.exactly(PROGRAM_KIND)?;
    let hex = |key: &str| -> Result<String, Malformed> {
        Ok(edict_codec::hex::encode(&root.get(key)?.bytes_32()?))
    };
    let (node, attachment) = (hex("required_node_type")?, hex("required_attachment_type")?);
    let most = root.get("max_replacement_bytes")?.unsigned()?;
    Ok((format!("echo.anchored/{node}/{attachment}"), most))
}

fn budget(field: &Field<'_>) -> Result<ExecutionBudget, Malformed> {
    field.closed(&["steps", "read_bytes", "write_bytes"])?;
    Ok(ExecutionBudget {
        max_steps: field.get("steps")?.positive()?,
        max_allocated_bytes: field.get("read_bytes")?.positive()?,
        max_output_bytes: field.get("write_bytes")?.positive()?,
    })
}

fn declared(rows: &[FootprintRow]) -> Vec<u8> {
    let rows = rows.iter().map(|row| {
        Value::text_map([
            ("space", Value::text(row.space.as_str())),
            ("intrinsic", Value::text(row.intrinsic.as_str())),
            ("maxCalls", Value::unsigned(row.max_calls)),
        ])
    });
    encode(&Value::Array(rows.collect()))
}

/// Decodes a report of the schema that goes with `package`. It names package, Target IR and
/// projection; what it does not name is taken from the package that it names.
pub(super) fn report(
    bytes: &[u8],
    package: &ProgramPackage,
) -> Result<VerificationReport, PackageError> {
    let report = OperationReport::decode(bytes)?;
    let named = |domain: &str, bytes| TypedDigest::new(domain, Algorithm::Sha256, bytes);
    Ok(VerificationReport {
        digest: report.digest,
        accepted: report.accepted,
        verifier_name: "the compiler of shape upstream".to_owned(),
        verifier_version: String::new(),
        operation: report.projection_operation,
        package: named(OPERATION_PACKAGE_SCHEMA, report.package),
        source: package.source.clone(),
        core: package.core.digest.clone(),
        target_ir: named(TARGET_IR_DOMAIN, report.target_ir),
        projection: named(PROJECTION_DOMAIN, report.projection),
        target_profile: package.target_profile.clone(),
        lawpacks: Vec::new(),
        budget: package.budget,
        static_bound: package.static_bound,
        checked: Vec::new(),
        not_checked: Vec::new(),
        diagnostics: Vec::new(),
    })
}
