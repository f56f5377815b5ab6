// SPDX-License-Identifier: Apache-2.0
//! From an `install` request to an executable: the one place that names the real admission.

use crate::{executable::Executable, package, refusal::Refusal, wire::request::Install};
use std::sync::Arc;

/// Judges the package of `install` with its report.
///
/// # Errors
/// The first refusal in the order of section 3.3.
pub fn admit(install: &Install) -> Result<Arc<dyn Executable>, Refusal> {
    let executable = package::admit(
        &install.package,
        &install.package_pin,
        &install.report,
        &install.report_pin,
        &install.policy,
    )?;
    Ok(Arc::new(executable))
}
