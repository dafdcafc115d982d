// Keys on the desk of staff: n or j goes on, k goes back, a number presses the act that has it. In a list, n and k move
// the focus, and Enter opens. Never while typing, and not after the reader has switched the keys off.
const KEY = "desk-keys";
const rows = [...document.querySelectorAll("[data-desk-row]")];
const toggle = document.querySelector("[data-desk-toggle]");

function read() {
  try { return localStorage.getItem(KEY); } catch { return null; }
}

function write(value) {
  try { localStorage.setItem(KEY, value); } catch { /* storage may be switched off */ }
}

let isOn = read() !== "off";

function show() {
  if (toggle) toggle.textContent = isOn ? "Switch keys off" : "Switch keys on";
}

function move(places) {
  const here = rows.indexOf(document.activeElement);
  const next = here < 0 ? (places > 0 ? 0 : rows.length - 1) : Math.min(Math.max(here + places, 0), rows.length - 1);
  rows[next]?.focus();
}

function press(key) {
  const link = document.querySelector(`[data-desk-key="${CSS.escape(key)}"]`);
  link?.click();
  return Boolean(link);
}

document.addEventListener("keydown", (event) => {
  if (!isOn || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.repeat) return;
  if (event.target.closest("input, select, textarea, [contenteditable]")) return;
  const places = { n: 1, j: 1, k: -1 }[event.key];
  const done = places && rows.length ? (move(places), true) : press(event.key === "j" ? "n" : event.key);
  if (done) event.preventDefault();
});

toggle?.addEventListener("click", () => {
  isOn = !isOn;
  write(isOn ? "on" : "off");
  show();
});

show();
