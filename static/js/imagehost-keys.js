// Files of a list with data-grid: arrow keys move between them, Enter or a click shows one large. Where they have boxes,
// Space selects one, and Shift with an arrow key more of them.
// Without this script each link leads to the file's page.
const dialog = document.querySelector("[data-light]");
const part = (name) => dialog.querySelector(`[data-light-${name}]`);
const links = () => [...document.querySelectorAll("[data-grid] [data-view]")];
let shown = null;

function columns(all) {
  const top = (link) => Math.round(link.getBoundingClientRect().top);
  const second = all.findIndex((link) => top(link) !== top(all[0]));
  return second < 0 ? all.length : second;
}

function target(key, link) {
  const all = links();
  const last = all.length - 1;
  const here = all.indexOf(link);
  const places = {
    ArrowLeft: here - 1,
    ArrowRight: here + 1,
    ArrowUp: here - columns(all),
    ArrowDown: here + columns(all),
    Home: 0,
    End: last,
  };
  return key in places ? all[places[key]] ?? link : null;
}

function medium(link) {
  const made = document.createElement(link.dataset.kind === "video" ? "video" : "img");
  if (made instanceof HTMLVideoElement) Object.assign(made, { controls: true, playsInline: true });
  else made.alt = link.querySelector("[data-caption]")?.textContent ?? title(link);
  made.src = link.dataset.view;
  return made;
}

function title(link) {
  return link.querySelector("[data-title]").textContent;
}

function show(link) {
  const all = links();
  shown = link;
  part("title").textContent = title(link);
  part("place").textContent = `${all.indexOf(link) + 1} of ${all.length}`;
  part("page").href = link.href;
  part("medium").replaceChildren(medium(link));
  for (const button of dialog.querySelectorAll("[data-light-step]")) button.hidden = all.length < 2;
  if (!dialog.open) dialog.showModal();
}

function step(places) {
  const all = links();
  const here = Math.max(all.findIndex((link) => link.href === shown.href), 0); // the list may have been renewed
  show(all[(here + places + all.length) % all.length]);
}

const boxOf = (link) => link.closest("li").querySelector("input[type=checkbox]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const link = event.target.closest("[data-grid] [data-view]");
  if (!link || (event.shiftKey && !boxOf(link))) return;
  const box = event.key === " " && boxOf(link);
  const next = target(event.key, link);
  if (box) box.click();
  else if (next) {
    next.focus();
    const detail = { from: boxOf(link), to: boxOf(next), isSelecting: event.shiftKey };
    document.dispatchEvent(new CustomEvent("imagehost:moved", { detail }));
  }
  if (box || next) event.preventDefault();
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-grid] [data-view]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  event.preventDefault();
  show(link);
});

dialog.addEventListener("keydown", (event) => {
  if (event.target.closest("video")) return; // its own keys move in the film
  if (event.key === "ArrowLeft") step(-1);
  if (event.key === "ArrowRight") step(1);
});
dialog.addEventListener("click", (event) => {
  const button = event.target.closest("[data-light-step]");
  if (button) step(Number(button.dataset.lightStep));
  if (event.target === dialog || event.target.closest("[data-light-close]")) dialog.close();
});
dialog.addEventListener("close", () => {
  part("medium").replaceChildren(); // a film ends
  const link = links().find((each) => each.href === shown.href);
  if (link) link.focus();
});
