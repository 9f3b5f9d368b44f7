"""Looks of what only the page has: the form, the choices, the columns."""

WEB_STYLE = """
body { background: var(--paper) !important; color: var(--ink);
  font-family: system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
.nicegui-content { padding: 0 !important; gap: 0 !important; align-items: stretch !important; }
.page { width: 100%; max-width: 1360px; margin: 0 auto; padding: 14px 20px 40px; }
@media (max-width: 700px) { .page { padding: 10px 10px 30px; } }
.page .top { display: flex; align-items: center; gap: 8px 14px; flex-wrap: wrap;
  margin-bottom: 12px; }
.page .top h1 { flex: 1; min-width: 110px; }
.page .columns { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 12px;
  align-items: start; }
.page .stack { display: grid; gap: 12px; min-width: 0; }
.page .side { position: sticky; top: 10px; }
@media (max-width: 980px) {
  .page .columns { grid-template-columns: minmax(0, 1fr); }
  .page .columns > .stack { display: contents; }
  .page .now-card { order: 1; } .page .map { order: 2; } .page .odds-card { order: 3; }
  .page .columns .armies { order: 4; } .page .log-card { order: 5; }
}
@media (prefers-color-scheme: dark) { .page, .q-dialog { --q-primary: #5b8fdb; } }
.page .q-field { width: 100%; }
.page .q-field__control, .page .q-field__native, .page textarea { color: var(--ink); }
.page .form { max-width: 760px; margin: 0 auto; display: grid; gap: 12px; }
.page .form .two { display: grid; grid-template-columns: 1fr 1fr; gap: 10px 16px; }
.page .form .three { display: grid; grid-template-columns: repeat(3, 1fr); gap: 10px 16px; }
.page .wizard { display: grid; grid-template-columns: 92px minmax(0, 1fr) 40px; gap: 10px;
  align-items: center; }
@media (max-width: 560px) { .page .form .two { grid-template-columns: minmax(0, 1fr); } }
.page .error, .page .q-textarea, .page .q-uploader { margin-top: 10px; }
.page .about { color: var(--faded); font-size: 14px; min-height: 21px; }
.page textarea { font: 13px/1.45 ui-monospace, Menlo, Consolas, monospace; }

.page .choices { display: grid; gap: 6px; margin-top: 10px; max-height: 56vh; overflow-y: auto; }
.page .choices.waiting { opacity: .55; }
.page button.choice { display: flex; align-items: center; gap: 4px 10px; flex-wrap: wrap;
  width: 100%; text-align: left; font: inherit; color: var(--ink); background: var(--paper);
  border: 1px solid var(--line); border-radius: 8px; padding: 8px 12px; cursor: pointer;
  min-height: 42px; }
.page button.choice:hover, .page button.choice:focus-visible { border-color: var(--army);
  background: var(--pale); outline: none; }
.page button.choice[disabled] { opacity: .5; cursor: default; }
.page button.choice.best { border-color: var(--good); background: var(--goodbg); }
.page button.choice .text { flex: 1 1 150px; min-width: 0; }
.page button.choice .chance, .page button.choice .worth { font-variant-numeric: tabular-nums;
  font-size: 13px; color: var(--faded); white-space: nowrap; }
.page button.choice .worth { color: var(--ink); font-weight: 650; min-width: 62px;
  margin-left: auto; text-align: right; }
.page button.choice .die { width: 20px; height: 20px; }
.page button.choice .tag.best { background: var(--good); color: var(--card); }
.page .question { margin-top: 8px; font-weight: 650; }
.page .wait { width: 16px; height: 16px; border-radius: 50%; border: 2px solid var(--line);
  border-top-color: var(--blue); animation: wait 1s linear infinite; }
@keyframes wait { to { transform: rotate(1turn); } }
.page .tools { display: flex; gap: 8px; flex-wrap: wrap; margin-top: 10px; align-items: center; }
.page .tools button.q-btn, .page .top button.q-btn, .page .form button.q-btn {
  border-radius: 8px; }
.page .thinks { display: flex; gap: 8px; align-items: center; color: var(--faded);
  font-size: 14px; min-height: 26px; margin-top: 6px; }
.page .log { max-height: 380px; overflow-y: auto; }
.page .log .back { border: 0; background: none; color: var(--blue); font: inherit;
  font-size: 12px; cursor: pointer; padding: 0 0 0 13px; text-decoration: underline; }
.page .ranges { display: flex; gap: 6px; flex-wrap: wrap; margin-bottom: 8px;
  align-items: center; font-size: 13px; color: var(--faded); }
.page .ranges button { border: 1px solid var(--line); border-radius: 12px; background: var(--paper);
  color: var(--ink); font: inherit; font-size: 13px; padding: 1px 10px; cursor: pointer; }
.page .ranges button.on { background: var(--pending); }
.page .wfb-review { margin-top: 14px; }
.page .wfb-review h1 { display: none; }
.page .q-uploader__subtitle, .page .q-uploader__list { display: none; }
"""
