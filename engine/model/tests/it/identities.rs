// SPDX-License-Identifier: Apache-2.0
//! Every vector of `identity-vectors.json`, and the worked suite read from its files.

use crate::reader::{Reader, build_recipe};
use crate::support::{Doc, cbor, contract};
use edict_codec::{
    cbor::encode,
    digest::{TypedDigest, derive, frame},
    hex,
    json::{Json, Node},
};
use edict_test_model::{
    recipe::{ArtifactPin, BuildRecipe, VerifyRecipe, key, preimage, stored},
    run::semantic_digest,
    suite::{
        LockDocument, Role,
        identity::{self, CaseSubject, SuiteSubject},
    },
};

fn text<'a>(node: &'a Node, name: &str) -> Option<&'a str> {
    node.get(name).and_then(Node::as_text)
}

fn bytes(node: &Node, name: &str) -> Vec<u8> {
    hex::decode(text(node, name).unwrap()).unwrap()
}

fn list<'a>(node: &'a Node, name: &str) -> &'a [Node] {
    node.get(name).and_then(Node::as_array).unwrap()
}

fn vector<'a>(data: &'a Node, name: &str) -> &'a Node {
    list(data, "positive")
        .iter()
        .find(|vector| text(vector, "name") == Some(name))
        .unwrap()
}

fn digest_of(data: &Node, name: &str) -> String {
    text(vector(data, name), "digest").unwrap().to_owned()
}

/// The worked example, with its manifest or lock replaced where a test does so.
struct Worked {
    data: Node,
    suite: Vec<u8>,
    lock: Vec<u8>,
}

impl Worked {
    fn new() -> Self {
        let data = contract("identity-vectors.json");
        let suite = file(&data, "edict.test-suite.json");
        let lock = file(&data, "edict.test-toolchain-lock.json");
        Self { data, suite, lock }
    }

    fn reader(&self) -> Reader<'_> {
        Reader {
            read: Box::new(|path| match path {
                "edict.test-suite.json" => self.suite.clone(),
                "edict.test-toolchain-lock.json" => self.lock.clone(),
                path => file(&self.data, path),
            }),
        }
    }

    fn cases(&self) -> Vec<CaseSubject> {
        self.reader().cases()
    }

    fn lock(&self) -> LockDocument {
        self.reader().lock()
    }

    fn suite(&self) -> SuiteSubject {
        self.reader().suite()
    }

    fn build_recipe(&self, lock: &LockDocument) -> BuildRecipe {
        build_recipe(lock, self.cases()[0].application.clone())
    }

    fn upstream_lock(&self) -> LockDocument {
        let doc = Doc::of(self.data.get("upstreamLock").unwrap());
        LockDocument::decode(doc.text().as_bytes()).unwrap()
    }
}

/// A file of the worked example.
fn file(data: &Node, path: &str) -> Vec<u8> {
    let example = data.get("workedExample").unwrap();
    bytes(example.get("files").unwrap().get(path).unwrap(), "hex")
}

#[test]
fn every_positive_vector_has_its_preimage_and_digest() {
    let data = contract("identity-vectors.json");
    let vectors = list(&data, "positive");
    assert_eq!(vectors.len(), 21);
    for vector in vectors {
        let name = text(vector, "name").unwrap();
        let preimage = bytes(vector, "preimageHex");
        if let Some(value) = vector.get("value") {
            assert_eq!(
                hex::encode(&encode(&cbor(value))),
                hex::encode(&preimage),
                "{name}"
            );
            let context = text(vector, "context").unwrap();
            let digest = stored(context, &preimage).unwrap();
            assert_eq!(
                Some(digest.hex().as_str()),
                text(vector, "digest"),
                "{name}"
            );
        }
        let digest = derive(text(vector, "context").unwrap(), &preimage);
        assert_eq!(
            Some(hex::encode(&digest).as_str()),
            text(vector, "digest"),
            "{name}"
        );
    }
}

#[test]
fn every_negative_vector_differs_or_is_rejected() {
    let data = contract("identity-vectors.json");
    let vectors = list(&data, "negative");
    assert_eq!(vectors.len(), 21);
    for vector in vectors {
        let name = text(vector, "name").unwrap();
        match text(vector, "kind").unwrap() {
            "differs" => differs(&data, vector),
            "rejected" if vector.get("preimageHex").is_some() => {
                let error = stored("edict.test/case/v1", &bytes(vector, "preimageHex"));
                let kind = error.unwrap_err().kind.name();
                assert_eq!(Some(kind), text(vector, "rejection"), "{name}");
            }
            "rejected" => rejected_digest(&data, vector),
            other => panic!("unknown kind {other}"),
        }
    }
}

fn differs(data: &Node, vector: &Node) {
    let name = text(vector, "name").unwrap();
    let preimage = bytes(vector, "preimageHex");
    let context = text(vector, "context").unwrap();
    let digest = if text(vector, "algorithm") == Some("sha256") {
        frame(context, &encode(&cbor(vector.get("value").unwrap())))
    } else {
        derive(context, &preimage)
    };
    let digest = hex::encode(&digest);
    assert_eq!(Some(digest.as_str()), text(vector, "digest"), "{name}");
    assert_ne!(
        digest,
        digest_of(data, text(vector, "from").unwrap()),
        "{name}"
    );
}

fn rejected_digest(data: &Node, vector: &Node) {
    let name = text(vector, "name").unwrap();
    assert_eq!(
        text(vector, "expectedDomain"),
        Some("edict.test/executable/v1")
    );
    let worked = Worked::new();
    let lock = String::from_utf8(worked.lock).unwrap();
    let mut doc = Doc::parse(&lock);
    let digest = Doc::of(vector.get("typedDigest").unwrap());
    doc.replace("/roles/compiler/identity", &digest.text());
    let error = LockDocument::decode(doc.text().as_bytes()).unwrap_err();
    assert_eq!(Some(error.kind.name()), text(vector, "rejection"), "{name}");
    assert!(data.get("positive").is_some());
}

#[test]
fn the_edict_frame_vectors_hold() {
    let data = contract("identity-vectors.json");
    for vector in list(&data, "edictFrame") {
        let item = encode(&cbor(vector.get("value").unwrap()));
        assert_eq!(
            Some(hex::encode(&item).as_str()),
            text(vector, "canonicalHex")
        );
        let digest = frame(text(vector, "domain").unwrap(), &item);
        assert_eq!(Some(hex::encode(&digest).as_str()), text(vector, "digest"));
    }
}

#[test]
fn the_worked_suite_has_its_identities() {
    let worked = Worked::new();
    let expect = worked
        .data
        .get("workedExample")
        .unwrap()
        .get("expect")
        .unwrap();
    assert_eq!(
        text(expect, "suite"),
        Some(worked.suite().identity().hex().as_str())
    );
    assert_eq!(
        text(expect, "toolchainLock"),
        Some(worked.lock().identity().hex().as_str())
    );
    let application = worked.cases()[0].application.identity();
    assert_eq!(
        text(expect, "application"),
        Some(application.hex().as_str())
    );
    for case in worked.cases() {
        let id = case.id.as_str();
        let cases = expect.get("cases").unwrap();
        assert_eq!(text(cases, id), Some(case.identity().hex().as_str()));
        let expectations = expect.get("expectations").unwrap();
        assert_eq!(
            text(expectations, id),
            Some(case.expectation.identity().hex().as_str())
        );
    }
    for member in expect.get("blobs").unwrap().as_object().unwrap() {
        let blob = edict_test_model::built::blob(&file(&worked.data, &member.name));
        assert_eq!(
            member.value.as_text(),
            Some(blob.hex().as_str()),
            "{}",
            member.name
        );
    }
}

#[test]
fn recipes_make_the_preimages_of_the_vectors() {
    let worked = Worked::new();
    let check = |name: &str, preimage: Vec<u8>, digest: TypedDigest| {
        let vector = vector(&worked.data, name);
        assert_eq!(
            text(vector, "preimageHex"),
            Some(hex::encode(&preimage).as_str()),
            "{name}"
        );
        assert_eq!(
            text(vector, "digest"),
            Some(digest.hex().as_str()),
            "{name}"
        );
    };
    let (suite, lock, cases) = (worked.suite(), worked.lock(), worked.cases());
    check("suite", preimage(&suite), suite.identity());
    check("lock-bundled", preimage(&lock), lock.identity());
    check("case-minimal", preimage(&cases[0]), cases[0].identity());
    check(
        "case-setup-obstruction",
        preimage(&cases[1]),
        cases[1].identity(),
    );
    check("case-skip", preimage(&cases[2]), cases[2].identity());
    let expectation = &cases[1].expectation;
    check(
        "expectation-obstruction",
        preimage(expectation),
        expectation.identity(),
    );
    check(
        "application",
        preimage(&cases[0].application),
        cases[0].application.identity(),
    );
    let build = worked.build_recipe(&lock);
    check("build-key-bundled", preimage(&build), key(&build));
    let upstream = worked.upstream_lock();
    check("lock-upstream", preimage(&upstream), upstream.identity());
    let build = worked.build_recipe(&upstream);
    check("build-key-upstream", preimage(&build), key(&build));
    let verify = verify_recipe(&worked);
    check("verify-key", preimage(&verify), key(&verify));
}

/// The recipe whose artifacts the `verify-key` vector lists.
fn verify_recipe(worked: &Worked) -> VerifyRecipe {
    let lock = worked.lock();
    let pin = |role| lock.entry(role).unwrap().identity.clone();
    let value = cbor(vector(&worked.data, "verify-key").get("value").unwrap());
    let rows = value.as_array().unwrap()[4].as_array().unwrap().to_vec();
    let artifacts = rows.iter().map(|row| {
        let [role, identity] = row.as_array().unwrap() else {
            panic!("a row is a pair");
        };
        ArtifactPin {
            role: edict_test_model::built::ArtifactRole::from_name(role.as_text().unwrap())
                .unwrap(),
            identity: TypedDigest::from_value(identity).unwrap(),
        }
    });
    VerifyRecipe {
        verifier: pin(Role::Verifier),
        verification_report_abi: pin(Role::VerificationReportAbi),
        codec_abi: pin(Role::CodecAbi),
        artifacts: artifacts.collect(),
    }
}

#[test]
fn trees_abis_and_run_semantics_have_the_digests_of_the_vectors() {
    let data = contract("identity-vectors.json");
    let rows = cbor(vector(&data, "tree-provider-package").get("value").unwrap());
    let mut files: Vec<(String, TypedDigest)> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let [path, blob] = row.as_array().unwrap() else {
                panic!("a row is a pair");
            };
            let path = path.as_text().unwrap().to_owned();
            (path, TypedDigest::from_value(blob).unwrap())
        })
        .collect();
    files.reverse();
    assert_eq!(
        identity::tree(files).hex(),
        digest_of(&data, "tree-provider-package")
    );
    let abi = identity::abi("edict.canonical-cbor/v1", b"codec definition\n");
    assert_eq!(abi.hex(), digest_of(&data, "abi-codec"));
    let executable = identity::executable(b"example compiler bytes\n");
    assert_eq!(executable.hex(), digest_of(&data, "executable-compiler"));
    for name in ["run-semantic", "run-semantic-typed"] {
        let value = Json::from(vector(&data, name).get("value").unwrap());
        assert_eq!(
            semantic_digest(&value).unwrap().hex(),
            digest_of(&data, name),
            "{name}"
        );
    }
}

#[test]
fn what_changes_no_meaning_changes_no_identity() {
    let data = contract("identity-vectors.json");
    let laws = list(&data, "equal");
    assert_eq!(laws.len(), 3);
    for law in laws {
        let name = text(law, "name").unwrap();
        let mut worked = Worked::new();
        let document = law.get("document").map(|it| Doc::of(it).text());
        let got = match text(law, "identity").unwrap() {
            "suite" => {
                worked.suite = document.map_or(worked.suite.clone(), String::into_bytes);
                worked.suite().identity()
            }
            "toolchain-lock" => {
                worked.lock = document.map_or(worked.lock.clone(), String::into_bytes);
                worked.lock().identity()
            }
            other => panic!("unknown identity {other}"),
        };
        assert_eq!(Some(got.hex().as_str()), text(law, "digest"), "{name}");
        assert_eq!(
            got.hex(),
            digest_of(&data, text(law, "from").unwrap()),
            "{name}"
        );
    }
}
