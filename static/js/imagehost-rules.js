// Rules can be dragged to another place; the buttons up and down do the same without this script.
const list = document.querySelector("[data-rules]");
let dragged = null;

function rules() {
  return [...list.querySelectorAll("[data-rule]")];
}

function clear() {
  for (const rule of rules()) rule.classList.remove("is-dragged", "is-target");
}

function send(places) {
  const form = dragged.querySelector("form");
  const field = document.createElement("input");
  Object.assign(field, { type: "hidden", name: "places", value: String(places) });
  form.append(field);
  form.submit();
}

if (list && rules().length > 1) {
  for (const rule of rules()) rule.draggable = true;
  list.addEventListener("dragstart", (event) => {
    dragged = event.target.closest("[data-rule]");
    dragged.classList.add("is-dragged");
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", "");
  });
  list.addEventListener("dragover", (event) => {
    if (!dragged) return;
    event.preventDefault();
    const target = event.target.closest("[data-rule]");
    for (const rule of rules()) rule.classList.toggle("is-target", rule === target && rule !== dragged);
  });
  list.addEventListener("drop", (event) => {
    const target = event.target.closest("[data-rule]");
    if (!dragged || !target) return;
    event.preventDefault();
    const places = rules().indexOf(target) - rules().indexOf(dragged);
    if (places) send(places);
  });
  list.addEventListener("dragend", () => {
    clear();
    dragged = null;
  });
}
