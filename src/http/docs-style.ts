/** Follows the reader's light or dark, and needs nothing from anywhere. */
export const DOCS_STYLE = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#1c2733, #dfe6ee); --soft: light-dark(#5a6b7d, #93a3b5); --line: light-dark(#dde4ec, #2a3644);
  --page: light-dark(#fbfcfd, #10161d); --card: light-dark(#fff, #161e27); --code: light-dark(#f2f5f8, #0c1218);
  --accent: light-dark(#0b62c4, #6cb2ff);
  --get: light-dark(#0b62c4, #6cb2ff); --post: light-dark(#14793c, #5fce8a);
  --patch: light-dark(#8a5a00, #e5b454); --delete: light-dark(#b3261e, #ff8a80);
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; font: 16px/1.6 system-ui, sans-serif; color: var(--ink); background: var(--page);
  display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1.25rem; border-right: 1px solid var(--line);
  font-size: .875rem; }
nav strong { display: block; font-size: 1.05rem; margin-bottom: .75rem; }
nav h2 { font-size: .72rem; letter-spacing: .08em; text-transform: uppercase; color: var(--soft); margin: 1.25rem 0 .25rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: block; padding: .15rem 0; color: var(--ink); }
main { padding: 2rem clamp(1rem, 4vw, 3.5rem) 6rem; max-width: 62rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem; }
main > section > h2 { margin: 3rem 0 1rem; font-size: 1.4rem; border-bottom: 1px solid var(--line); padding-bottom: .4rem; }
p { margin: .4rem 0; }
article { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1rem 1.25rem; margin: 1rem 0; }
article h3 { margin: 0; font-size: 1.02rem; display: flex; gap: .6rem; align-items: baseline; flex-wrap: wrap; }
article h3 code { background: none; padding: 0; overflow-wrap: anywhere; }
article h4 { margin: 1rem 0 .3rem; font-size: .8rem; color: var(--soft); text-transform: uppercase; letter-spacing: .06em; }
.verb { font: 700 .78rem/1 ui-monospace, monospace; text-transform: uppercase; }
.get { color: var(--get); } .post { color: var(--post); } .patch { color: var(--patch); } .delete { color: var(--delete); }
.scope { margin-left: auto; font-size: .78rem; font-weight: 400; color: var(--soft); }
code, pre { font: .85em/1.55 ui-monospace, SFMono-Regular, Menlo, monospace; background: var(--code); border-radius: .35rem; }
code { padding: .1em .35em; }
pre { padding: .8rem 1rem; overflow-x: auto; margin: .4rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
.scroll { overflow-x: auto; }
td, th { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); }
tr:last-child td { border-bottom: 0; }
td:first-child { white-space: nowrap; }
.soft { color: var(--soft); }
@media (max-width: 52rem) {
  body { display: block; }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); }
  nav h2, nav ul { display: none; }
  .scope { margin-left: 0; }
}
`
