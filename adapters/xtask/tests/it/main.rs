// SPDX-License-Identifier: Apache-2.0
//! Guards: what the architecture page and the test plan promise is compared with the tree.

#[cfg(test)]
mod architecture;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod jim;
#[cfg(test)]
mod kill_loop;
#[cfg(test)]
mod language;
#[cfg(test)]
mod random;
#[cfg(test)]
mod test_plan;
#[cfg(test)]
mod tidy;

/// What the guards need.
#[cfg(test)]
mod support {
    use std::path::{Path, PathBuf};

    /// The programs that were built in the profile of this test.
    pub(crate) fn programs() -> xtask::chain::Programs {
        let directory = Path::new(env!("CARGO_BIN_EXE_xtask")).parent().unwrap();
        xtask::chain::Programs::at(directory).unwrap()
    }

    /// The root of the workspace.
    pub(crate) fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .nth(2)
            .unwrap()
            .to_path_buf()
    }

    /// Every tracked or new file below the root that version control would take.
    pub(crate) fn files() -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut pending = vec![root()];
        while let Some(directory) = pending.pop() {
            for entry in std::fs::read_dir(&directory).unwrap() {
                let entry = entry.unwrap();
                let name = entry.file_name();
                if ["target", "node_modules", ".git", ".edict-test"]
                    .iter()
                    .any(|it| name == *it)
                {
                    continue;
                }
                if entry.file_type().unwrap().is_dir() {
                    pending.push(entry.path());
                } else {
                    found.push(entry.path());
                }
            }
        }
        found.sort();
        found
    }

    /// Rust sources with their path relative to the root.
    pub(crate) fn sources() -> Vec<(String, String)> {
        let root = root();
        files()
            .into_iter()
            .filter(|path| path.extension().is_some_and(|it| it == "rs"))
            .map(|path| {
                let name = path
                    .strip_prefix(&root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                (name, std::fs::read_to_string(&path).unwrap())
            })
            .collect()
    }
}
