// SPDX-License-Identifier: Apache-2.0
//! V4, V10 and V16: which context, which invocation, which position of the worldline and its log.

use super::super::checks::{Fault, ensure, same};
use super::super::{InvokeRequest, OperationEvidence, Receipt, request_digest};
use super::{Binder, Decoded};
use crate::failure::FailureKind;
use crate::package::Malformed;

impl Binder {
    /// V4.
    pub(super) fn context(
        &self,
        operation: &OperationEvidence,
        receipt: &Receipt,
        request: Result<&InvokeRequest, &Malformed>,
    ) -> Result<(), Box<Fault>> {
        let foreign = FailureKind::ForeignContext;
        ensure(
            receipt.nonce == *self.facts.nonce.bytes(),
            foreign,
            "the receipt names another nonce",
        )?;
        same(
            "the worldline of the receipt",
            &self.worldline,
            &receipt.worldline,
            foreign,
        )?;
        let opened = &self.facts.opening.worldline;
        same("the worldline opened", &self.worldline, opened, foreign)?;
        let foreign = FailureKind::ForeignInvocation;
        ensure(
            receipt.invocation == operation.invocation,
            foreign,
            "the receipt names another invocation",
        )?;
        let request = request.map_err(|error| {
            Fault::new(foreign, format!("the request sent is malformed at {error}"))
        })?;
        ensure(
            request.worldline == self.worldline && request.invocation == operation.invocation,
            foreign,
            "the request sent names another worldline or invocation",
        )?;
        let sent = request_digest(&operation.request.bytes);
        same(
            "the request of the receipt",
            &sent,
            &receipt.request,
            foreign,
        )
    }

    /// V10.
    pub(super) fn position(&self, receipt: &Receipt) -> Result<(), Box<Fault>> {
        ensure(
            receipt.ordinal == self.decided && receipt.previous == self.last_receipt,
            FailureKind::ReplayedContext,
            "the receipt stands at another position of the worldline",
        )
    }

    /// V16.
    pub(super) fn log_position(
        &self,
        operation: &OperationEvidence,
        decoded: &Decoded,
    ) -> Result<(), Box<Fault>> {
        let fail = |text: &'static str| Err(Fault::new(FailureKind::SettlementMismatch, text));
        match (&decoded.receipt.wal, &self.facts.opening.wal) {
            (None, None) => Ok(()),
            (Some(wal), Some(opening)) => {
                if Some(wal.first_lsn) != self.last_lsn.checked_add(1)
                    || wal.last_lsn <= wal.first_lsn
                    || wal.epoch != opening.epoch
                {
                    return fail("the log position does not follow the one before");
                }
                match &self.facts.log {
                    Some(log) => {
                        let transaction = log.decision(operation, &decoded.record, self);
                        let equal = transaction.last_lsn == wal.last_lsn
                            && transaction.commit == wal.commit;
                        ensure(
                            equal,
                            FailureKind::SettlementMismatch,
                            "the rebuilt log has another commit",
                        )
                    }
                    None => Ok(()),
                }
            }
            _ => fail("a log position stands exactly where there is no log"),
        }
    }
}
