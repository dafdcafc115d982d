// Rows of <ol data-reorder="url"> can be dragged into order, and the whole order is sent. Without a URL the form of the
// row's buttons is sent with the number of places. The buttons Up and Down do the same without this script, and by
// keyboard.
const status = document.getElementById("order-status");

function say(text) {
  status.textContent = text;
  status.hidden = false;
}

function submit(row, places) {
  const form = row.querySelector("form");
  form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "places", value: String(places) }));
  form.submit();
}

async function send(list) {
  const body = new URLSearchParams([...list.children].map((row) => ["pk", row.dataset.pk]));
  const token = list.querySelector("[name=csrfmiddlewaretoken]").value;
  const answer = await fetch(list.dataset.reorder, { method: "POST", body, headers: { "X-CSRFToken": token } });
  if (!answer.ok) throw new Error(answer.status === 409 ? await answer.text() : "");
}

/* The first row cannot go up, the last one not down. */
function mark(list) {
  for (const [value, end] of [["up", list.firstElementChild], ["down", list.lastElementChild]]) {
    for (const button of list.querySelectorAll(`button[name="places"][value="${value}"]`)) {
      button.disabled = end.contains(button);
    }
  }
}

function prepare(list) {
  let dragged = null;
  let before = [];

  for (const row of list.children) {
    const handle = document.createElement("span");
    handle.className = "drag-handle";
    handle.setAttribute("aria-hidden", "true"); // for pointers alone: keyboards have the buttons
    handle.textContent = "⠿";
    handle.addEventListener("pointerdown", () => { row.draggable = true; });
    handle.addEventListener("pointerup", () => { row.draggable = false; });
    row.prepend(handle);
    row.addEventListener("dragstart", (event) => {
      dragged = row;
      before = [...list.children];
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", "");
      row.classList.add("is-dragged");
    });
    row.addEventListener("dragover", (event) => {
      if (!dragged) return;
      event.preventDefault();
      if (row === dragged) return;
      const box = row.getBoundingClientRect();
      const isBelow = event.clientY > box.top + box.height / 2;
      row[isBelow ? "after" : "before"](dragged);
    });
    row.addEventListener("drop", (event) => event.preventDefault());
    row.addEventListener("dragend", async () => {
      row.classList.remove("is-dragged");
      row.draggable = false;
      dragged = null;
      const places = [...list.children].indexOf(row) - before.indexOf(row);
      if (!places) return;
      if (!list.dataset.reorder) {
        submit(row, places);
        return;
      }
      try {
        await send(list);
        mark(list);
        row.append(status);
        say("The new order is saved.");
        document.querySelector(".preview-fold iframe")?.contentWindow.location.reload();
      } catch (problem) {
        list.append(...before);
        say(problem.message || "The order could not be saved. Please try again.");
      }
    });
  }
}

for (const list of document.querySelectorAll("[data-reorder]")) {
  if (list.children.length > 1) prepare(list);
}
