// Selects ranges and whole pages, says how many files are selected, copies links, and shows new uploads without a reload.
const GALLERY = "[data-gallery]";
let anchor = null; // the box where a range begins: the last one that was clicked, or where Shift was held first

const gallery = () => document.querySelector(GALLERY);
const boxes = () => [...gallery().querySelectorAll(".shot__pick")];

function say(text) {
  gallery().querySelector("[data-gallery-status]").textContent = text;
}

function count() {
  const picked = boxes().filter((box) => box.checked).length;
  const all = gallery().querySelector("[data-select-all]");
  if (!all) return;
  all.textContent = picked === boxes().length ? "Select none" : "Select all on this page";
  say(picked ? `${picked} selected` : "None selected");
}

function prepare() {
  for (const part of gallery().querySelectorAll("[data-select-all], [data-gallery-hint]")) part.hidden = false;
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("[data-copy-link]")) button.hidden = false;
  for (const link of document.querySelectorAll("[data-without-script]")) link.hidden = true;
}

async function copy(button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copyLink);
    button.textContent = "Copied";
    say("The link is copied");
  } catch {
    say("The link could not be copied");
  }
  setTimeout(() => { button.textContent = label; }, 2000);
}

function set(from, to, isChecked) {
  const all = boxes();
  const [first, last] = [all.indexOf(from), all.indexOf(to)].sort((one, other) => one - other);
  if (first >= 0) for (const box of all.slice(first, last + 1)) box.checked = isChecked;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy-link]");
  if (button) copy(button);
  if (event.target.closest("[data-select-all]")) {
    const isAll = boxes().every((box) => box.checked);
    for (const box of boxes()) box.checked = !isAll;
    count();
  }
  if (event.target.matches(".shot__pick")) {
    if (event.shiftKey && anchor) set(anchor, event.target, event.target.checked);
    else anchor = event.target;
    count();
  }
});

// Shift with an arrow key: the selection reaches from where it began to here.
document.addEventListener("imagehost:moved", ({ detail: { from, to, isSelecting } }) => {
  if (!isSelecting) {
    anchor = null;
    return;
  }
  anchor ??= from;
  set(anchor, from, false);
  set(anchor, to, true);
  count();
});

// The page as the server sees it now. What is selected stays selected.
async function refresh() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const picked = new Set(boxes().filter((box) => box.checked).map((box) => box.value));
  for (const part of [GALLERY, "[data-storage]"]) {
    const [here, there] = [document.querySelector(part), fresh.querySelector(part)];
    if (here && there) here.replaceWith(document.adoptNode(there));
  }
  for (const box of boxes()) box.checked = picked.has(box.value);
  anchor = null;
  prepare();
}

document.addEventListener("imagehost:uploaded", () => { refresh().catch(() => say("Open the page again to see the new files")); });
prepare();
