// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask page`: the exported page of a real run in a real browser, light and dark, wide and
//! narrow, with labels that want to break it.

use crate::{
    command::{capture, cargo, say},
    job::{Failure, copy_tree, root, target},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Labels of the first cases: markup, one long word, and everything that ends a line.
const LABELS: [&str; 3] = [
    "<script>document.title='broken'</script><img src=x onerror=alert(1)> & \\\"q\\\" ]]>",
    "LONG",
    "a line\\nbreak, \\u202eturned around, \\u0007 and \\u200b nothing",
];

/// The member before which each case gets its label.
const MEMBER: &str = "\"application\":";

/// The program that is another one in the second run, so that the page has something to explain.
const PROGRAM: &str = "suite/programs/src/choose-left.edict";

/// Names under which the browser is looked for.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

pub(crate) fn run() -> Result<(), Failure> {
    say("# building edict, edict-verifier, echo-host and edict-test\n");
    cargo(&["build", "--quiet", "--workspace", "--bins"])?;
    let programs = target()?.join("debug");
    let space = target()?.join("page");
    _ = fs::remove_dir_all(&space);
    copy_tree(
        &root().join("testdata/suites/failing"),
        &space.join("suite"),
    )?;
    hostile_labels(&space.join("suite/edict.test-suite.json"))?;
    let suite = "suite/edict.test-suite.json";
    let edict_test = programs.join("edict-test");
    let run = |arguments: &[&str]| capture(&space, &edict_test, arguments);
    run(&["lock", "--suite", suite, "--existing", "replace"])?;
    run(&[
        "--suite",
        suite,
        "--no-state",
        "--report-json",
        "before.json",
    ])?;
    break_program(&space.join(PROGRAM))?;
    run(&["--suite", suite, "--no-state", "--report-json", "run.json"])?;
    let export = ["report", "export", "run.json", "--to", "html", "--against"];
    let page = run(&[&export[..], &["before.json"]].concat())?;
    if !page.status.success() {
        let told = String::from_utf8_lossy(&page.stderr).into_owned();
        return Err(Failure::new(format!("export the page: {told}")));
    }
    let page = String::from_utf8_lossy(&page.stdout).into_owned();
    fs::write(space.join("page.html"), &page).map_err(|error| failed("write the page", &error))?;
    let browser = browser(&space)?;
    for scheme in ["light", "dark"] {
        look(&space, &browser, &page, scheme)?;
        picture(&space, &browser, scheme)?;
    }
    Ok(())
}

/// How the browser is started: without a screen, and without anything of its own to do.
fn options(space: &Path, scheme: &str) -> Vec<String> {
    let profile = space.join(format!("profile-{scheme}"));
    let mut options: Vec<String> = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--hide-scrollbars",
    ]
    .map(str::to_owned)
    .to_vec();
    options.push(format!("--user-data-dir={}", profile.display()));
    if scheme == "dark" {
        options.push("--blink-settings=preferredColorScheme=0".to_owned());
    }
    options
}

/// A picture of the page for people.
fn picture(space: &Path, browser: &Path, scheme: &str) -> Result<(), Failure> {
    for width in [400, 1_100] {
        let name = space.join(format!("page-{scheme}-{width}.png"));
        let mut arguments = options(space, scheme);
        arguments.push(format!("--screenshot={}", name.display()));
        arguments.push(format!("--window-size={width},2400"));
        arguments.push(format!("file://{}", space.join("page.html").display()));
        capture(space, browser, &arguments)?;
        if !name.is_file() {
            return Err(Failure::new(format!("{scheme}: no picture was made")));
        }
        say(&format!("{scheme}: {}\n", name.display()));
    }
    Ok(())
}

fn failed(what: &str, error: &std::io::Error) -> Failure {
    Failure::new(format!("{what}: {error}"))
}

/// Gives the first cases of a manifest the labels.
fn hostile_labels(manifest: &Path) -> Result<(), Failure> {
    let text = fs::read_to_string(manifest).map_err(|error| failed("read the suite", &error))?;
    let long = "unbroken".repeat(128);
    let mut parts = text.split(MEMBER);
    let mut labeled = parts.next().unwrap_or_default().to_owned();
    for (index, part) in parts.enumerate() {
        if let Some(label) = LABELS.get(index) {
            let label = if *label == "LONG" { &long } else { *label };
            labeled.push_str(r#""description": ""#);
            labeled.push_str(label);
            labeled.push_str(r#"", "#);
        }
        labeled.push_str(MEMBER);
        labeled.push_str(part);
    }
    fs::write(manifest, labeled).map_err(|error| failed("write the suite", &error))
}

/// Turns the verdicts of a program around.
fn break_program(source: &Path) -> Result<(), Failure> {
    let text = fs::read_to_string(source).map_err(|error| failed("read a program", &error))?;
    let broken = text.replace("input.left == input.right", "input.left != input.right");
    fs::write(source, broken).map_err(|error| failed("write a program", &error))
}

fn browser(space: &Path) -> Result<PathBuf, Failure> {
    BROWSERS
        .into_iter()
        .map(PathBuf::from)
        .find(|name| capture(space, name, &["--version"]).is_ok())
        .ok_or_else(|| {
            Failure::new("no browser is installed; on Debian: apt-get install chromium".to_owned())
        })
}

/// Opens the page inside a frame of several widths and lets the browser say what it finds.
fn look(space: &Path, browser: &Path, page: &str, scheme: &str) -> Result<(), Failure> {
    let name = format!("look-{scheme}.html");
    let quoted = page.replace('&', "&amp;").replace('"', "&quot;");
    let text = FRAME.replace("SCHEME", scheme).replace("PAGE", &quoted);
    fs::write(space.join(&name), text).map_err(|error| failed("write the frame", &error))?;
    let mut arguments = options(space, scheme);
    arguments.extend(["--virtual-time-budget=5000", "--dump-dom"].map(str::to_owned));
    arguments.push(format!("file://{}", space.join(&name).display()));
    let seen = capture(space, browser, &arguments)?;
    let seen = String::from_utf8_lossy(&seen.stdout).into_owned();
    let told = seen
        .split_once("<pre id=\"told\">")
        .and_then(|(_, rest)| rest.split_once("</pre>"))
        .map_or("the browser said nothing", |(told, _)| told);
    if told == "sound" {
        say(&format!(
            "{scheme}: the page is sound at 320, 800 and 1280 pixels\n"
        ));
        Ok(())
    } else {
        Err(Failure::new(format!("{scheme}: {told}")))
    }
}

/// The page runs no script; the frame around it does, and looks into it.
const FRAME: &str = r#"<!DOCTYPE html><html><body><pre id="told"></pre>
<iframe id="page" height="800" srcdoc="PAGE"></iframe>
<script>
const told = [], frame = document.getElementById('page');
const check = (holds, text) => { if (!holds) told.push(text); };
frame.onload = () => {
  const inner = frame.contentDocument, all = inner.querySelectorAll('*');
  check(inner.querySelectorAll('script,img,link,iframe,object').length === 0, 'markup of a label');
  check(![...all].some(it => [...it.attributes].some(a => a.name.startsWith('on'))), 'a handler');
  const labels = [...inner.querySelectorAll('.label')].map(it => it.textContent);
  const whys = [...inner.querySelectorAll('.why > summary')].map(it => it.textContent);
  check(whys.length === 6 && whys[0] === 'why: source.semantic', 'why: ' + whys[0]);
  check(labels.length === 6, 'cases: ' + labels.length);
  check(labels[0].startsWith("<script>document.title='broken'</scr" + "ipt>"), 'label 1: ' + labels[0]);
  check(labels[2].includes('<U+000A>') && labels[2].includes('<U+202E>'), 'label 3: ' + labels[2]);
  inner.querySelectorAll('details').forEach(it => { it.open = true; });
  for (const width of [320, 800, 1280]) {
    frame.width = width;
    const root = inner.documentElement;
    check(root.scrollWidth <= root.clientWidth, 'wider than ' + width + ': ' + root.scrollWidth);
  }
  const light = color => {
    const [r, g, b] = color.match(/[0-9.]+/g).slice(0, 3).map(it => {
      const part = it / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const style = it => frame.contentWindow.getComputedStyle(it);
  const page = light(style(inner.body).backgroundColor);
  check('SCHEME' === 'dark' ? page < 0.1 : page > 0.9, 'background ' + page);
  const card = light(style(inner.querySelector('details')).backgroundColor);
  for (const name of ['.mark', '.number', '.label', 'dt', 'dd', 'td', 'small', 'pre', '.why > summary']) {
    const text = light(style(inner.querySelector(name)).color);
    const contrast = (Math.max(text, card) + 0.05) / (Math.min(text, card) + 0.05);
    check(contrast >= 4.5, name + ' has the contrast ' + contrast);
  }
  document.getElementById('told').textContent = told.length ? told.join('; ') : 'sound';
};
</script></body></html>
"#;
