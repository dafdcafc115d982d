// Counts what is selected, selects a whole page, copies links, and shows new uploads without a reload.
const GALLERY = "[data-gallery]";
let last = null; // the box that was clicked last: Shift selects from there

const gallery = () => document.querySelector(GALLERY);
const boxes = () => [...gallery().querySelectorAll(".shot__pick")];

function say(text) {
  gallery().querySelector("[data-gallery-status]").textContent = text;
}

function count() {
  const picked = boxes().filter((box) => box.checked).length;
  const label = gallery().querySelector("[data-selected]");
  const all = gallery().querySelector("[data-select-all]");
  if (!label) return;
  label.textContent = picked ? `${picked} selected` : "None selected";
  all.textContent = picked === boxes().length ? "Select none" : "Select all on this page";
}

function prepare() {
  for (const hidden of document.querySelectorAll("[data-selected], [data-select-all]")) hidden.hidden = false;
  if (navigator.clipboard) {
    for (const button of document.querySelectorAll("[data-copy-link]")) button.hidden = false;
    for (const link of document.querySelectorAll("[data-without-script]")) link.hidden = true;
  }
  count();
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

function pickTo(box) {
  const all = boxes();
  const [from, to] = [all.indexOf(last), all.indexOf(box)].sort((one, other) => one - other);
  if (from >= 0) for (const between of all.slice(from, to + 1)) between.checked = box.checked;
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
    if (event.shiftKey && last) pickTo(event.target);
    last = event.target;
    count();
  }
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
  prepare();
}

document.addEventListener("imagehost:uploaded", () => { refresh().catch(() => say("Open the page again to see the new files")); });
prepare();
