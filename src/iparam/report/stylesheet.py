"""The page's style: one column on a phone, three figures a row on a desk, figures in one piece on paper."""

STYLESHEET = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 0 16px 32px; max-width: 1240px; background: #fff; color: #1a1a1a;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: anywhere; }
header { border-bottom: 2px solid #0072b2; margin-bottom: 12px; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 20px 0 2px; }
h2 { font-size: 1.25rem; margin: 32px 0 8px; padding-top: 8px; border-top: 1px solid #d9d9d9; }
h3 { font-size: 1.02rem; margin: 18px 0 6px; }
p { margin: 6px 0 10px; max-width: 75ch; }
header p, .small, .missing { color: #555; font-size: .875rem; }
nav ul { list-style: none; margin: 0 0 8px; padding: 0; display: flex; flex-wrap: wrap; gap: 2px 16px; }
nav a, a { color: #005a8c; }
.verdict { border-left: 6px solid; padding: 6px 14px; margin: 10px 0; }
.verdict p { margin: 4px 0; }
.good { border-color: #009e73; background: #eaf6f2; }
.caution { border-color: #e69f00; background: #fdf5e5; }
.poor { border-color: #d55e00; background: #fbeee6; }
.warnings { margin: 4px 0; padding-left: 22px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(155px, 1fr)); gap: 10px; margin: 12px 0; }
.tiles div { border: 1px solid #d9d9d9; border-radius: 6px; padding: 8px 12px; }
.tiles dt { color: #555; font-size: .8rem; }
.tiles dd { margin: 0; font-size: 1.08rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; margin: 8px 0 12px; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th, td { padding: 4px 12px; border-bottom: 1px solid #e3e3e3; text-align: right; white-space: nowrap; }
th:first-child { text-align: left; padding-left: 4px; }
tbody th { font-weight: 500; }
thead th { font-weight: 600; white-space: normal; border-bottom: 1.5px solid #6b6b6b; vertical-align: bottom; }
table.words td { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 180px; }
table.words th { text-align: left; vertical-align: top; }
.beside { display: grid; grid-template-columns: minmax(0, max-content) minmax(260px, 1fr); gap: 0 32px; }
.beside > div { min-width: 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(340px, 100%), 1fr)); gap: 14px;
  margin: 10px 0 14px; }
figure.card { margin: 0; padding: 10px 10px 4px; border: 1px solid #e3e3e3; border-radius: 6px; min-width: 0;
  max-width: 620px; display: flex; flex-direction: column; justify-content: space-between; }
figcaption { font-size: .84rem; line-height: 1.35; color: #444; margin-bottom: 4px; }
figcaption b { color: #1a1a1a; }
svg { display: block; width: 100%; height: auto; }
svg * { stroke-linejoin: round; stroke-linecap: butt; }
@media (max-width: 480px) {
  body { padding: 0 12px 24px; font-size: 15px; }
  figure.card { padding: 8px 6px 2px; }
  figcaption { padding: 0 4px; }
  th, td { padding: 4px 6px; }
  table { font-size: .82rem; }
  tbody th, table.words th { white-space: normal; overflow-wrap: anywhere; min-width: 80px; }
  table.words td { min-width: 84px; }
}
@media (max-width: 900px) { .beside { grid-template-columns: minmax(0, 1fr); } }
@media print {
  @page { margin: 14mm; }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  nav { display: none; }
  .cards { grid-template-columns: repeat(2, 1fr); gap: 8px; }
  figure.card, .verdict, .tiles, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .scroll { overflow: visible; }
  table { font-size: 8.5pt; }
  th, td { padding: 2px 5px; white-space: normal; }
  .beside { grid-template-columns: minmax(0, 1fr); }
  .verdict { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
