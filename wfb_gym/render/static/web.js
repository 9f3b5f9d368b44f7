// Click handlers, keys and focus of the web UI; `emit` sends an element's data to the server.
document.documentElement.lang = "en";

// Send the code of the clicked unit or character, or the number of the clicked point.
function emitTarget(event, emit) {
  const hit = event.target.closest("[data-code], [data-point]");
  if (hit) emit([hit.dataset.code ?? null, hit.dataset.point ?? null]);
}

// Send the number of the decision to go back to.
function emitDecision(event, emit) {
  const hit = event.target.closest("[data-back]");
  if (hit) emit(Number(hit.dataset.back));
}

// Send the name of the chosen scenario.
function emitScenario(event, emit) {
  if (event.target.name === "scenario") emit(event.target.value);
}

// --- keys: each clicks the button whose `data-key` it is ---------------------------------

const keysAreOn = () => localStorage.getItem("wfb-keys") !== "off";

function showKeys() {
  document.documentElement.classList.toggle("no-keys", !keysAreOn());
  for (const button of document.querySelectorAll("[data-switch-keys]")) {
    button.textContent = `Keys: ${keysAreOn() ? "on" : "off"}`;
    button.setAttribute("aria-pressed", keysAreOn());
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !keysAreOn()) return;
  if (event.target.closest?.("input, textarea, select, [contenteditable], [role=listbox]")) return;
  if (document.querySelector(".q-dialog")) return;
  const key = CSS.escape(event.key.toLowerCase());
  const button = document.querySelector(`[data-key="${key}"]`);
  if (!button?.checkVisibility() || button.disabled || button.closest(".waiting")) return;
  event.preventDefault();
  button.click();
});

document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-switch-keys]")) return;
  localStorage.setItem("wfb-keys", keysAreOn() ? "off" : "on");
  showKeys();
});

// --- focus: the first choice of a new decision that does not pass (code 0), so that Enter does
// not end a phase by mistake; otherwise the choice that had it --------------------------------

let shownTurn = null, focusedChoice = null;

document.addEventListener("focusin", (event) => {
  focusedChoice = event.target.closest?.("[data-choice]")?.dataset.choice ?? null;
});

function focusChoice() {
  const first = document.querySelector('[data-choice]:not([data-choice="0"])')
    ?? document.querySelector("[data-choice]");
  if (!first?.checkVisibility()) return;
  const group = first.closest("[data-turn]"), turn = group.dataset.turn;
  const isNew = turn !== shownTurn, isLost = document.activeElement === document.body;
  shownTurn = turn;
  if (document.querySelector(".q-dialog") || !(isNew || (isLost && focusedChoice))) return;
  const same = isNew ? null : group.querySelector(`[data-choice="${focusedChoice}"]`);
  (same ?? first).focus({ preventScroll: true });
  if (!isNew) return;
  const card = group.closest(".card"), top = card.getBoundingClientRect().top;
  if (top < 0 || top > innerHeight / 2) card.scrollIntoView();
}

document.addEventListener("DOMContentLoaded", () => {
  new MutationObserver((changes) => {
    if (!changes.some((change) => change.addedNodes.length)) return;
    if (document.querySelector("[data-switch-keys]:not([data-ready])")) {
      document.querySelector("[data-switch-keys]").dataset.ready = "1";
      showKeys();
    }
    if (!document.querySelector("[data-turn]")) shownTurn = null;  // the game was left
    focusChoice();
  }).observe(document.body, { childList: true, subtree: true });
});

// --- the start page ------------------------------------------------------------------------

// Show the scenarios whose cards contain every word.
document.addEventListener("input", (event) => {
  if (!event.target.matches?.("[data-filter]")) return;
  const words = event.target.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
  const list = event.target.closest(".bundled").querySelector(".scenarios");
  for (const card of list.querySelectorAll("[data-words]")) {
    card.hidden = !words.every((word) => card.dataset.words.includes(word));
  }
  for (const group of list.querySelectorAll("section")) {
    group.hidden = !group.querySelector("[data-words]:not([hidden])");
  }
  list.querySelector(".none").hidden = Boolean(list.querySelector("section:not([hidden])"));
});

// The choices of the last game, kept in this browser.
const savedSetup = () => localStorage.getItem("wfb-setup") ?? "";
const saveSetup = (text) => localStorage.setItem("wfb-setup", text);
