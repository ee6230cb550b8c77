//! How pictures look: by classes, in light and dark, and readable in grey.

/// Rules for `svg.gw-picture`. Every selector begins with that class, so that a page keeps its own.
pub const STYLE: &str = "
.gw-picture { --gw-ink: #1f2328; --gw-dim: #59636e; --gw-line: #818b98; --gw-paper: #ffffff; --gw-box: #f6f8fa;
  --gw-chip: #fff4d6; --gw-chip-line: #b58900; --gw-here: #bc4c00; --gw-here-box: #fff1e5; --gw-good: #1a7f37; --gw-bad: #cf222e;
  --gw-ask: #0969da; --gw-done: #dafbe1; background: var(--gw-paper);
  font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif; font-size: 12px; }
@media (prefers-color-scheme: dark) { .gw-picture { --gw-ink: #e6edf3; --gw-dim: #9198a1; --gw-line: #767e89; --gw-paper: #0d1117;
  --gw-box: #161b22; --gw-chip: #2f2a17; --gw-chip-line: #b58900; --gw-here: #ffa657; --gw-here-box: #35220f; --gw-good: #3fb950;
  --gw-bad: #f85149; --gw-ask: #58a6ff; --gw-done: #12301c; } }
.gw-picture text { fill: var(--gw-ink); white-space: pre; }
.gw-picture .heading, .gw-picture .name { font-size: 14px; font-weight: 700; }
.gw-picture .dim { fill: var(--gw-dim); }
.gw-picture .at { fill: var(--gw-here); font-weight: 700; }
.gw-picture .box { fill: var(--gw-box); stroke: var(--gw-line); stroke-width: 1.2; }
.gw-picture .inner { fill: none; stroke: var(--gw-line); stroke-width: 1; }
.gw-picture .bar { fill: var(--gw-line); }
.gw-picture .ask .box { stroke: var(--gw-ask); stroke-dasharray: 5 3; }
.gw-picture .completed .box { stroke: var(--gw-good); stroke-width: 2; }
.gw-picture .failed .box, .gw-picture .cancelled .box { stroke: var(--gw-bad); stroke-width: 2; }
.gw-picture .ahead .name, .gw-picture .ahead text { fill: var(--gw-dim); }
.gw-picture .here > .box { fill: var(--gw-here-box); stroke: var(--gw-here); stroke-width: 4; stroke-dasharray: none; }
.gw-picture .chip rect { fill: var(--gw-chip); stroke: var(--gw-chip-line); stroke-width: 1; }
.gw-picture .chip.taken rect { stroke-width: 2.4; }
.gw-picture .way path { fill: none; stroke: var(--gw-line); stroke-width: 1.4; }
.gw-picture .way .tip { fill: var(--gw-line); stroke: none; }
.gw-picture .way.main path { stroke: var(--gw-ink); stroke-width: 2; }
.gw-picture .way.main .tip { fill: var(--gw-ink); }
.gw-picture.of-run .way.main path { stroke: var(--gw-line); }
.gw-picture.of-run .way.main .tip { fill: var(--gw-line); }
.gw-picture .way.dashed path { stroke-dasharray: 5 4; }
.gw-picture .way.taken path, .gw-picture.of-run .way.taken path { stroke: var(--gw-ink); stroke-width: 3.2; }
.gw-picture .way.taken .tip, .gw-picture.of-run .way.taken .tip { fill: var(--gw-ink); }
.gw-picture .start { fill: var(--gw-ink); }
.gw-gantt .at { fill: var(--gw-ink); }
.gw-gantt .tick { stroke: var(--gw-line); stroke-opacity: 0.45; }
.gw-gantt .break { fill: var(--gw-box); }
.gw-gantt .bar rect { fill: var(--gw-paper); stroke: var(--gw-line); stroke-width: 1.2; }
.gw-gantt .bar.done > rect { fill: var(--gw-done); stroke: var(--gw-good); }
.gw-gantt .bar.failed > rect { stroke: var(--gw-bad); stroke-width: 2; }
.gw-gantt .bar.dropped > rect { stroke-dasharray: 3 3; }
.gw-gantt .bar.working > rect { fill: var(--gw-here-box); stroke: var(--gw-here); stroke-width: 2.4; }
.gw-gantt .bar.waiting > rect { stroke: var(--gw-chip-line); }
.gw-gantt .hatch { fill: none; stroke: var(--gw-chip-line); stroke-width: 1.3; }
.gw-gantt .failed .hatch { stroke: var(--gw-bad); }
.gw-gantt .bar > rect.ground { fill: var(--gw-paper); stroke: none; }
.gw-chart .part rect { fill: var(--gw-line); stroke: var(--gw-line); }
.gw-chart .good rect { fill: var(--gw-done); stroke: var(--gw-good); }
.gw-chart .bad rect { fill: var(--gw-paper); stroke: var(--gw-bad); }
.gw-chart .void rect { fill: var(--gw-paper); stroke-dasharray: 3 3; }
.gw-chart .upto path { fill: none; stroke: var(--gw-line); stroke-width: 2; }
.gw-chart .hatch { fill: none; stroke: var(--gw-bad); stroke-width: 1.3; }
";
