// SPDX-License-Identifier: Apache-2.0
//! What two runs have in common, grouped for a glance or in full for a positive `none`.

use edict_test_model::{
    suite::Role,
    why::{Cause, Explanation},
};

/// More lawpacks than a closure has files for.
const MAX_LAWPACKS: usize = 4_096;
/// Columns of a line of the full list.
const WIDTH: usize = 88;

/// The groups in which nothing differs.
pub(super) fn unchanged(explanation: &Explanation) -> String {
    let differs = |start: &str| {
        let leaves = explanation.differing();
        leaves
            .iter()
            .any(|it| it.difference.label.starts_with(start))
    };
    let equal = |label: &str| explanation.unchanged.iter().any(|it| it == label);
    let mut groups = Vec::new();
    let roles = Role::ALL.iter().filter(|role| {
        let label = format!("toolchain.{}", role.name());
        equal(&label) && !differs(&format!("{label}."))
    });
    let roles = roles.count();
    if roles > 0 {
        let plural = if roles == 1 { "role" } else { "roles" };
        groups.push(format!("toolchain ({roles} {plural})"));
    }
    if equal("application.source[0]") {
        groups.push("source".to_owned());
    }
    let lawpacks = (0..MAX_LAWPACKS)
        .take_while(|index| equal(&format!("application.lawpack[{index}].exports")))
        .count();
    if lawpacks > 0 && !differs("application.lawpack") {
        groups.push(format!("lawpacks ({lawpacks})"));
    }
    for (name, start) in [
        ("input", "input"),
        ("expectation", "expectation"),
        ("setup", "setup"),
        ("skip", "skip"),
        ("limits", "limits."),
    ] {
        if !differs(start) {
            groups.push(name.to_owned());
        }
    }
    if !explanation.causes.contains(&Cause::SuiteOrder) {
        groups.push("order".to_owned());
    }
    groups.join(", ")
}

/// Every leaf that was compared and is equal, wrapped below the first column.
pub(super) fn compared(explanation: &Explanation) -> String {
    let indent = " ".repeat(13);
    let mut text = String::new();
    let mut column = indent.len();
    for (index, label) in explanation.unchanged.iter().enumerate() {
        if index > 0 {
            text.push(',');
            column += 1;
            if column + 1 + label.len() > WIDTH {
                text.push('\n');
                text.push_str(&indent);
                column = indent.len();
            } else {
                text.push(' ');
                column += 1;
            }
        }
        text.push_str(label);
        column += label.len();
    }
    text
}
