// Puts a position of a review together from its parts, and follows slider, buttons and links.
for (const root of document.querySelectorAll(".wfb-review:not([data-ready])")) {
  root.dataset.ready = "1";
  const data = JSON.parse(root.querySelector(".data").textContent);
  const find = (what) => root.querySelector(what);
  const slider = find("input"), last = data.frames.length - 1;
  const part = (number) => data.parts[number];
  const log = find(".log");
  log.innerHTML = data.log.map((number, event) => {
    const lost = data.lost[event] ? `<div class="gave">gave away ${data.lost[event]}</div>` : "";
    return `<li data-go="${event}">${part(number)}${lost}</li>`;
  }).reverse().join("");
  const items = [...log.children].reverse();  // in order of the battle; the log has the latest first
  const armies = root.querySelectorAll(".armies .army"), cursor = find(".cursor");
  const left = Number(cursor?.dataset.left), width = Number(cursor?.dataset.width);
  function show(number) {
    const at = Math.max(0, Math.min(last, number)), frame = data.frames[at];
    slider.value = at;
    root.dataset.at = at;
    find(".place").textContent = at < last ? `step ${at + 1} of ${last}` : "end";
    const before = at ? part(data.log[at - 1]) : "<p class='how'>The battle begins.</p>";
    find(".now").innerHTML = `<div>${before}</div><div>${part(frame.s)}${part(frame.r)}</div>`;
    armies.forEach((army, k) => { army.innerHTML = frame.a[k].map(part).join(""); });
    find(".map").innerHTML = part(frame.m);
    find(".verdict").innerHTML = part(frame.v);
    items.forEach((item, event) => {
      item.classList.toggle("here", event === at);
      item.classList.toggle("to-come", event >= at);
    });
    const here = items[Math.min(at, last - 1)];
    if (here) log.scrollTop = here.offsetTop - log.offsetTop - log.clientHeight / 2;
    if (cursor) cursor.setAttribute("transform", `translate(${left + width * at / last} 0)`);
  }
  slider.addEventListener("input", () => show(Number(slider.value)));
  root.addEventListener("click", (event) => {
    const step = event.target.closest("[data-step]"), go = event.target.closest("[data-go]");
    if (step) show(Number(slider.value) + Number(step.dataset.step));
    if (go) { event.preventDefault(); show(Number(go.dataset.go)); }
  });
  root.addEventListener("keydown", (event) => {
    if (event.target === slider) return;
    if (event.key === "ArrowRight") show(Number(slider.value) + 1);
    if (event.key === "ArrowLeft") show(Number(slider.value) - 1);
  });
  show(0);
}
