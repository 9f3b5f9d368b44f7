// Click handlers of the web UI; `emit` sends the clicked element's data to the server.

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
