// Sends each chosen, dropped or pasted file on its own, two at a time, and shows how far it is.
// Without this script the form sends all files at once.
const AT_ONCE = 2;
const form = document.querySelector("[data-upload]");
const input = form.querySelector("input[type=file]");
const zone = form.querySelector("[data-upload-zone]");
const list = document.querySelector("[data-upload-list]");
const clear = document.querySelector("[data-upload-done]");
const status = document.querySelector("[data-upload-status]");
const most = Number(form.dataset.most);
const waiting = [];
const counts = { running: 0, stored: 0, refused: 0 };

function element(name, attributes = {}, text = "") {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

function copyButton(label, name, link) {
  return element("button", {
    type: "button",
    class: "button button--quiet button--small",
    "data-copy-link": link,
    "aria-label": `${label} of ${name}`,
  }, label);
}

// A file and its line in the list.
class Upload {
  constructor(file) {
    this.file = file;
    this.name = file.name || "A pasted picture";
    this.item = element("li", { class: "row upload__file" });
    this.state = element("span", { class: "meta" }, "Waiting");
    this.acts = element("span", { class: "upload__acts" });
    this.bar = element("progress", { max: "100", value: "0", "aria-label": `Upload of ${this.name}` });
    const title = element("bdi", {}, this.name);
    this.item.append(title, this.bar, this.state, this.acts);
    list.append(this.item);
    this.offer("Cancel", () => this.cancel());
  }

  offer(label, act) {
    const button = element("button", {
      type: "button",
      class: "button button--quiet button--small",
      "aria-label": `${label}: ${this.name}`,
    }, label);
    button.addEventListener("click", act);
    this.acts.replaceChildren(button);
  }

  cancel() {
    const place = waiting.indexOf(this);
    if (place >= 0) waiting.splice(place, 1);
    if (this.request) this.request.abort();
    else this.refuse("Canceled.");
  }

  start() {
    if (this.file.size > most) {
      this.refuse(`File too large. Maximum size is ${most} bytes.`, { isFinal: true });
      return next();
    }
    counts.running += 1;
    const body = new FormData();
    body.append("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    body.append("expires", form.elements.expires.value);
    body.append("files", this.file, this.name);
    const request = this.request = new XMLHttpRequest();
    request.open("POST", form.dataset.upload);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", (event) => this.progress(event.loaded, event.total));
    request.addEventListener("load", () => this.answered());
    request.addEventListener("error", () => this.refuse("The connection broke off."));
    request.addEventListener("abort", () => this.refuse("Canceled."));
    request.addEventListener("loadend", () => {
      this.request = null;
      counts.running -= 1;
      next();
    });
    request.send(body);
    return undefined;
  }

  progress(loaded, total) {
    const share = total ? Math.floor((100 * loaded) / total) : 0;
    this.bar.value = share;
    this.state.textContent = share < 100 ? `${share} %` : "Being checked and stored";
  }

  answered() {
    let answer = null;
    try {
      answer = JSON.parse(this.request.responseText);
    } catch {
      // A page stands there instead: of the login, or of an error.
    }
    if (this.request.status === 200 && answer) this.store(answer);
    else if (answer?.error) this.refuse(answer.error, { isFinal: ["INVALID_MIME", "FILE_TOO_LARGE"].includes(answer.code) });
    else this.refuse("Refused. Open the page again, sign in if you are asked to, and try once more.");
  }

  store(answer) {
    counts.stored += 1;
    this.bar.remove();
    this.state.textContent = answer.folder ? `Stored in the folder ${answer.folder}` : "Stored";
    const link = element("a", { href: answer.page, class: "shot__direct" }, answer.name);
    this.acts.replaceChildren(
      link,
      copyButton("Copy link", answer.name, answer.url),
      copyButton("Copy page", answer.name, answer.page),
    );
  }

  refuse(text, { isFinal = false } = {}) {
    counts.refused += 1;
    this.bar.value = 0;
    this.bar.hidden = true;
    this.state.textContent = text;
    this.state.classList.add("is-refused");
    if (isFinal) this.acts.replaceChildren();
    else this.offer("Try again", () => this.retry());
    tell();
  }

  retry() {
    counts.refused -= 1;
    this.bar.hidden = false;
    this.state.textContent = "Waiting";
    this.state.classList.remove("is-refused");
    this.offer("Cancel", () => this.cancel());
    waiting.push(this);
    next();
  }
}

function add(files) {
  const fresh = [...files];
  if (!fresh.length) return;
  list.hidden = false;
  clear.hidden = true;
  waiting.push(...fresh.map((file) => new Upload(file)));
  next();
}

function next() {
  while (waiting.length && counts.running < AT_ONCE) waiting.shift().start();
  tell();
}

function tell() {
  const isBusy = counts.running > 0 || waiting.length > 0;
  const left = counts.running + waiting.length;
  const parts = [`${counts.stored} uploaded`];
  if (counts.refused) parts.push(`${counts.refused} not uploaded`);
  if (left) parts.push(`${left} to go`);
  status.textContent = list.children.length ? parts.join(", ") : "";
  clear.hidden = isBusy || !list.children.length;
  if (!isBusy && counts.stored > tell.shown) {
    tell.shown = counts.stored;
    document.dispatchEvent(new Event("imagehost:uploaded"));
  }
}
tell.shown = 0;

function filesOf(transfer) {
  return [...(transfer?.items ?? [])].filter((item) => item.kind === "file").map((item) => item.getAsFile()).filter(Boolean);
}

function hasFiles(event) {
  return [...(event.dataTransfer?.types ?? [])].includes("Files");
}

input.required = false; // the files go at once; nothing is left for the form to ask for
form.querySelector("[data-upload-send]").hidden = true;
form.querySelector("[data-upload-hint]").hidden = false;
input.addEventListener("change", () => {
  add(input.files);
  input.value = "";
});
form.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("dragover", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "copy";
  zone.classList.add("is-over");
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) zone.classList.remove("is-over");
});
document.addEventListener("drop", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  zone.classList.remove("is-over");
  add(filesOf(event.dataTransfer));
});
document.addEventListener("paste", (event) => add(filesOf(event.clipboardData)));
clear.querySelector("button").addEventListener("click", () => {
  list.replaceChildren();
  list.hidden = clear.hidden = true;
  Object.assign(counts, { stored: 0, refused: 0 });
  tell.shown = 0;
  status.textContent = "The list is cleared";
  input.focus();
});
window.addEventListener("beforeunload", (event) => {
  if (counts.running || waiting.length) event.preventDefault();
});
