// SPDX-License-Identifier: Apache-2.0
//! Every entry of Target IR stands exactly once in exactly one order (check A12).

use super::{
    findings::Findings,
    tree::{Block, Intent, Statement},
};

/// Walks the orders from the outermost one, without recursion on the nesting of blocks.
pub(crate) fn judge(intent: &Intent, findings: &mut Findings) {
    let mut visited = vec![false; intent.statements.len()];
    let mut blocks: Vec<&Block> = vec![&intent.body];
    while let Some(block) = blocks.pop() {
        for id in &block.order {
            let (Some(visited), Some(statement)) =
                (visited.get_mut(*id), intent.statements.get(*id))
            else {
                continue;
            };
            if std::mem::replace(visited, true) {
                findings.malformed(
                    place(intent, *id),
                    &format!("`{}` stands in an order twice", name(intent, *id)),
                );
                continue;
            }
            match statement {
                Statement::Branch {
                    then, otherwise, ..
                } => blocks.extend([then, otherwise]),
                Statement::For(head) => blocks.push(&head.body),
                Statement::Let { .. } | Statement::Require { .. } | Statement::Effect(_) => {}
            }
        }
    }
    if let Some(id) = visited.iter().position(|visited| !visited) {
        findings.malformed(
            place(intent, id),
            &format!("`{}` stands in no order", name(intent, id)),
        );
    }
}

fn place(intent: &Intent, id: usize) -> &str {
    intent.places.get(id).unwrap_or(&intent.path)
}

fn name(intent: &Intent, id: usize) -> &str {
    intent.ids.get(id).map_or("", String::as_str)
}
