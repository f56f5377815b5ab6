// SPDX-License-Identifier: Apache-2.0
//! The look of the page and the escaping of what stands on it.

use crate::label::visible;
use edict_codec::digest::TypedDigest;

/// Light and dark by the reader's preference; long words break instead of widening the page.
pub(super) const STYLE: &str = "
:root{--text:#1b1f24;--page:#ffffff;--soft:#59636e;--line:#d1d9e0;--card:#f6f8fa;
--good:#116329;--bad:#b3121d;--odd:#7d4e00}
@media(prefers-color-scheme:dark){:root{--text:#e6edf3;--page:#0d1117;--soft:#9198a1;--line:#3d444d;
--card:#151b23;--good:#56d364;--bad:#ff7b72;--odd:#e3b341}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:70rem;color:var(--text);background:var(--page);
font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{margin:0;font-size:1.5rem}h2{font-size:1.1rem}
code{font-family:ui-monospace,monospace;font-size:.9em}
pre{margin:.5rem 0;white-space:pre;overflow-x:auto;font:.85rem/1.45 ui-monospace,monospace}
.why>summary{color:var(--soft)}
details,footer{margin:.5rem 0;padding:.5rem .75rem;background:var(--card);
border:1px solid var(--line);border-radius:.4rem}
summary{cursor:pointer}
.mark{display:inline-block;min-width:4.5rem;font-weight:600}
.number{color:var(--soft)}.label{white-space:pre-wrap}
.passed{color:var(--good)}.failed,.errored,.infrastructure{color:var(--bad)}
.skipped,.not-run{color:var(--odd)}
dl{display:grid;grid-template-columns:minmax(6rem,12rem) minmax(0,1fr);gap:.15rem .75rem;margin:.5rem 0}
dt{color:var(--soft)}dd{margin:0}
table{width:100%;border-collapse:collapse;table-layout:fixed;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.2rem .4rem;border-top:1px solid var(--line)}
@media(max-width:36rem){dl{grid-template-columns:minmax(0,1fr)}dd{margin-bottom:.4rem}
th,td{padding:.15rem;font-size:.75rem}}
";

/// A text in which nothing is markup and nothing is hidden.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for scalar in visible(text).chars() {
        match scalar {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    // What was written by one who wanted to turn the line around is turned back at its end.
    format!("<bdi>{escaped}</bdi>")
}

/// A digest: domain and digits.
pub(super) fn short(digest: &TypedDigest) -> String {
    let domain = escaped(digest.domain());
    format!("<code>{}</code> <small>{domain}</small>", digest.hex())
}
