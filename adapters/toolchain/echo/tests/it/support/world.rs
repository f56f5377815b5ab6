// SPDX-License-Identifier: Apache-2.0
//! A client that installs, opens and invokes, and makes the checks of section 6.3 as it goes.

use super::{
    client::{Frame, Host},
    messages::{map, text, with},
    program::Sealed,
    replica::Replica,
};
use edict_codec::{
    cbor::{Value, decode, encode},
    digest::{Algorithm, TypedDigest, derive_typed},
};

/// The body of `install` for a package.
pub(crate) fn install_body(sealed: &Sealed) -> Value {
    let pin = |pin: &echo_host::pin::Pin| {
        TypedDigest::new(&pin.domain, Algorithm::Sha256, pin.bytes).to_value()
    };
    map([
        ("package", Value::bytes(sealed.package.as_slice())),
        ("packageDigest", pin(&sealed.package_pin)),
        ("report", Value::bytes(sealed.report.as_slice())),
        ("reportDigest", pin(&sealed.report_pin)),
        ("policy", sealed.policy.to_value()),
    ])
}

/// Installs a package; gives its installation.
pub(crate) fn install(host: &mut Host, sealed: &Sealed) -> Value {
    let reply = host.ask(2, &install_body(sealed));
    reply.ok(0x8002).get("installation").unwrap().clone()
}

/// An open request with these grants, in ascending order.
pub(crate) fn granting(open: &Value, grants: &[&Value]) -> Value {
    let mut grants: Vec<Value> = grants.iter().map(|it| (*it).clone()).collect();
    grants.sort_by_key(encode);
    with(open, "grants", Value::Array(grants))
}

/// An open context as its client sees it.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) worldline: Value,
    pub(crate) nonce: Value,
    pub(crate) basis: Value,
    pub(crate) decided: u64,
    pub(crate) last_receipt: Value,
    pub(crate) log: Value,
    pub(crate) recovery: Value,
    pub(crate) replica: Replica,
    pub(crate) build: Value,
}

/// An outcome that passed all checks.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) frame: Frame,
    pub(crate) record: Value,
    pub(crate) receipt: Value,
}

impl Outcome {
    /// Bytes of a member of the frame.
    pub(crate) fn bytes(&self, key: &str) -> Option<&[u8]> {
        self.frame.body.get(key)?.as_bytes()
    }

    /// The decoded body.
    pub(crate) fn body(&self) -> Value {
        decode(self.bytes("body").unwrap()).unwrap()
    }

    /// The version a program on notes returned.
    pub(crate) fn version(&self) -> Vec<u8> {
        self.body()
            .get("version")
            .unwrap()
            .as_bytes()
            .unwrap()
            .to_vec()
    }

    /// The coordinate of the obstruction, or nothing.
    pub(crate) fn coordinate(&self) -> Option<&str> {
        self.record.get("outcome")?.get("coordinate")?.as_text()
    }

    /// `settled` or `unchanged`, of an effectful one.
    pub(crate) fn posture(&self) -> Option<&str> {
        self.record.get("posture")?.as_text()
    }
}

impl Lane {
    /// Opens a context.
    pub(crate) fn open(host: &mut Host, open: &Value) -> Self {
        let reply = host.ask(4, open);
        Self::opened(&reply, open, &host.build)
    }

    /// What an opening replied.
    pub(crate) fn opened(reply: &Frame, open: &Value, build: &Value) -> Self {
        let body = reply.ok(0x8004);
        let take = |key: &str| body.get(key).unwrap().clone();
        Self {
            worldline: take("worldline"),
            nonce: open.get("nonce").unwrap().clone(),
            basis: take("basis"),
            decided: take("decided").as_u64().unwrap(),
            last_receipt: take("lastReceipt"),
            log: take("wal"),
            recovery: take("recovery"),
            replica: Replica::new(),
            build: build.clone(),
        }
    }

    /// The body of an invocation at the current basis, or at none for a pure one.
    pub(crate) fn request(
        &self,
        installation: &Value,
        id: u64,
        input: &Value,
        pure: bool,
    ) -> Value {
        let mut invocation = [0; 32];
        invocation[24..].copy_from_slice(&id.to_be_bytes());
        map([
            ("worldline", self.worldline.clone()),
            ("installation", installation.clone()),
            ("invocation", Value::bytes(invocation)),
            (
                "basis",
                if pure {
                    Value::Null
                } else {
                    self.basis.clone()
                },
            ),
            ("input", Value::bytes(encode(input))),
            ("budget", Value::Null),
        ])
    }

    /// Invokes a program without effects.
    pub(crate) fn pure(
        &mut self,
        host: &mut Host,
        installation: &Value,
        id: u64,
        input: &Value,
    ) -> Outcome {
        let request = self.request(installation, id, input, true);
        self.invoke(host, &request)
    }

    /// Invokes a program with effects.
    pub(crate) fn effect(
        &mut self,
        host: &mut Host,
        installation: &Value,
        id: u64,
        input: &Value,
    ) -> Outcome {
        let request = self.request(installation, id, input, false);
        self.invoke(host, &request)
    }

    /// Sends the request and checks its outcome.
    pub(crate) fn invoke(&mut self, host: &mut Host, request: &Value) -> Outcome {
        let reply = host.ask(5, request);
        self.check(reply, request)
    }

    /// Checks V1 to V17 as far as a client without the package can.
    pub(crate) fn check(&mut self, frame: Frame, request: &Value) -> Outcome {
        let body = frame.ok(0x8005).clone();
        let take = |key: &str| body.get(key).unwrap();
        assert_eq!(take("recalled"), &Value::Bool(false));
        assert_eq!(take("worldline"), &self.worldline);
        assert_eq!(take("invocation"), request.get("invocation").unwrap());
        let record_bytes = take("record").as_bytes().unwrap();
        let record = decode(record_bytes).unwrap();
        let receipt_bytes = take("receipt").as_bytes().unwrap();
        let receipt = decode(receipt_bytes).unwrap();
        let abi = record.get("abi").unwrap().as_text().unwrap();
        let domain = abi.replace("echo.", "echo/");
        assert_eq!(
            receipt.get("execution"),
            Some(&derive_typed(&domain, record_bytes).to_value())
        );
        let of = |key: &str| receipt.get(key).unwrap();
        assert_eq!(of("abi"), &text("echo.receipt/v1"));
        assert_eq!(of("worldline"), &self.worldline);
        assert_eq!(of("nonce"), &self.nonce);
        assert_eq!(of("invocation"), request.get("invocation").unwrap());
        let sent = derive_typed("echo/invocation/v1", &encode(request));
        assert_eq!(of("request"), &sent.to_value());
        assert_eq!(of("ordinal"), &Value::unsigned(self.decided));
        assert_eq!(of("previous"), &self.last_receipt);
        assert_eq!(of("build"), &self.build);
        self.check_log(of("wal"));
        assert_eq!(record.get("installation"), request.get("installation"));
        let input = request.get("input").unwrap().as_bytes().unwrap();
        let input = derive_typed("echo/input/v1", input).to_value();
        assert_eq!(record.get("input"), Some(&input));
        let outcome = record.get("outcome").unwrap();
        let bytes = take("body").as_bytes().unwrap();
        assert_eq!(outcome.get("kind"), Some(take("kind")));
        assert_eq!(
            outcome.get("body"),
            Some(&derive_typed("echo/body/v1", bytes).to_value())
        );
        assert_eq!(
            outcome.get("length"),
            Some(&Value::unsigned(bytes.len() as u64))
        );
        if abi == "echo.pure-execution/v1" {
            assert_eq!(record.as_map().unwrap().len(), 12);
            assert!(take("footprint").is_null() && take("patch").is_null());
        } else {
            self.check_effects(&record, &body);
        }
        self.decided += 1;
        self.last_receipt = derive_typed("echo/receipt/v1", receipt_bytes).to_value();
        Outcome {
            frame,
            record,
            receipt,
        }
    }

    fn check_log(&mut self, position: &Value) {
        if self.log.is_null() {
            assert!(position.is_null());
            return;
        }
        let number = |value: &Value, key: &str| value.get(key).unwrap().as_u64().unwrap();
        assert_eq!(position.get("epoch"), self.log.get("epoch"));
        assert_eq!(
            number(position, "firstLsn"),
            number(&self.log, "lastLsn") + 1
        );
        assert!(number(position, "lastLsn") > number(position, "firstLsn"));
        self.log = map([
            ("epoch", position.get("epoch").unwrap().clone()),
            ("lastLsn", position.get("lastLsn").unwrap().clone()),
            ("commit", position.get("commit").unwrap().clone()),
        ]);
    }

    fn check_effects(&mut self, record: &Value, body: &Value) {
        assert_eq!(record.as_map().unwrap().len(), 18);
        let footprint = body.get("footprint").unwrap().as_bytes().unwrap();
        assert_eq!(
            record.get("footprint"),
            Some(&derive_typed("echo/footprint/v1", footprint).to_value())
        );
        let rows = decode(footprint).unwrap();
        for row in rows.get("reads").unwrap().as_array().unwrap() {
            let atom = row.get("atom").unwrap().as_bytes().unwrap();
            assert_eq!(
                row.get("seen").unwrap().as_bytes(),
                self.replica.version(atom)
            );
        }
        assert_eq!(record.get("before"), Some(&self.basis));
        let after = record.get("after").unwrap();
        let tick = |basis: &Value| basis.get("tick").unwrap().as_u64().unwrap();
        match body.get("patch").unwrap().as_bytes() {
            None => {
                assert_eq!(after, &self.basis);
                assert_eq!(record.get("posture"), Some(&text("unchanged")));
                assert_eq!(record.get("patch"), Some(&Value::Null));
            }
            Some(patch) => {
                assert_eq!(
                    record.get("patch"),
                    Some(&derive_typed("echo/patch/v1", patch).to_value())
                );
                assert_eq!(record.get("posture"), Some(&text("settled")));
                assert_eq!(tick(after), tick(&self.basis) + 1);
                self.replica.apply(patch);
                assert_eq!(
                    after.get("stateRoot"),
                    Some(&self.replica.root().to_value())
                );
                self.basis = after.clone();
            }
        }
    }

    /// The body of a recall.
    pub(crate) fn recall(&self, id: u64) -> Value {
        let request = self.request(&Value::Null, id, &Value::Null, true);
        map([
            ("worldline", self.worldline.clone()),
            ("invocation", request.get("invocation").unwrap().clone()),
        ])
    }

    /// The body of an observation at the current basis.
    pub(crate) fn observe(&self, select: Value, max_bytes: u64) -> Value {
        map([
            ("worldline", self.worldline.clone()),
            ("basis", self.basis.clone()),
            ("select", select),
            ("maxBytes", Value::unsigned(max_bytes)),
        ])
    }

    /// Closes the context.
    pub(crate) fn close(&self, host: &mut Host) -> Frame {
        host.ask(8, &map([("worldline", self.worldline.clone())]))
    }
}
