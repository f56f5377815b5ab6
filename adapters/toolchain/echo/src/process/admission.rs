// SPDX-License-Identifier: Apache-2.0
//! From an `install` request to an executable: the one place that names the real admission.

use crate::{
    executable::Executable,
    package::{self, anchored},
    refusal::Refusal,
    wire::request::Install,
};
use std::sync::Arc;

/// Judges the package of `install` with its report. What the pin of the package says it is decides
/// whose rules apply, if the client asked for the foreign profile; otherwise there is one rule.
///
/// # Errors
/// The first refusal in the order of section 3.3.
pub fn admit(install: &Install, is_anchored: bool) -> Result<Arc<dyn Executable>, Refusal> {
    let Install {
        package,
        package_pin,
        report,
        report_pin,
        policy,
    } = install;
    if is_anchored && package_pin.domain == anchored::PACKAGE {
        let executable = anchored::admit(package, package_pin, report, report_pin, policy)?;
        return Ok(Arc::new(executable));
    }
    let executable = package::admit(package, package_pin, report, report_pin, policy)?;
    Ok(Arc::new(executable))
}
