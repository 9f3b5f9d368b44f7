// Clicks of the web UI that name what was clicked: `emit` sends it to the server.

// A unit, character or point of the battlefield.
function emitTarget(event, emit) {
  const hit = event.target.closest("[data-code], [data-point]");
  if (hit) emit([hit.dataset.code ?? null, hit.dataset.point ?? null]);
}

// A decision to go back to.
function emitDecision(event, emit) {
  const hit = event.target.closest("[data-back]");
  if (hit) emit(Number(hit.dataset.back));
}
