// Lets people choose the part of a picture that a file input sends; without this script it sends the whole picture.
// `data-crop` of the input: width and height of the result at most, as "1024x1024". The part becomes a file of its own,
// and the server checks it like any other. `data-crop-send`: the form is sent as soon as the part is chosen.
const dialog = document.querySelector("[data-crop-dialog]");
const canvas = dialog?.querySelector("canvas");
const status = dialog?.querySelector("[role=status]");
const MAX_ZOOM = 8;
const ZOOM_STEP = 1.15;
const MOVE_STEP = 0.05; // of the visible part
const KEYS = {
  ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", "+": "in", "=": "in", "-": "out",
};
const MOVES = { left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1] };
const ENDINGS = { "image/webp": "webp", "image/png": "png" };
/* These may be animated, and a part of them would be a still: GIF, APNG, and the animated forms of WebP and AVIF. */
const ANIMATED = /^GIF8|^.PNG.*acTL|^RIFF.{4}WEBPVP8X.*ANIM|^.{4}ftypavis/s;

let picture = null;
let part = null; // what is visible, in pixels of the picture: x, y, width, height
let widest = 0; // its width without zoom

function draw() {
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, part.x, part.y, part.width, part.height, 0, 0, canvas.width, canvas.height);
}

/* False: the edge was reached before. */
function move(right, down) {
  const { x, y } = part;
  part.x = Math.min(Math.max(x + right, 0), picture.width - part.width);
  part.y = Math.min(Math.max(y + down, 0), picture.height - part.height);
  draw();
  return part.x !== x || part.y !== y;
}

function zoom(factor) {
  const { width, height } = part;
  part.width = Math.min(Math.max(width / factor, widest / MAX_ZOOM), widest);
  part.height = part.width * height / width;
  move((width - part.width) / 2, (height - part.height) / 2);
  return part.width !== width;
}

function act(name) {
  if (name === "in" || name === "out") {
    const isDone = zoom(name === "in" ? ZOOM_STEP : 1 / ZOOM_STEP);
    status.textContent = isDone ? `Zoomed ${name}.` : `Cannot zoom ${name} any further.`;
    return;
  }
  const [right, down] = MOVES[name];
  const isDone = move(right * part.width * MOVE_STEP, down * part.height * MOVE_STEP);
  status.textContent = isDone ? `Moved ${name}.` : `This is the edge of the picture. Zoom in to move further.`;
}

function listen() {
  for (const button of dialog.querySelectorAll("[data-crop-act]")) {
    button.addEventListener("click", () => act(button.dataset.cropAct));
  }
  dialog.addEventListener("keydown", (event) => {
    const name = KEYS[event.key];
    if (!name || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act(name);
  });
  canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
  canvas.addEventListener("pointermove", (event) => {
    if (!canvas.hasPointerCapture(event.pointerId)) return;
    const scale = part.width / canvas.clientWidth;
    move(-event.movementX * scale, -event.movementY * scale);
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(event.deltaY < 0 ? ZOOM_STEP : 1 / ZOOM_STEP);
  }, { passive: false });
}

/* What was chosen: crop, whole, or nothing. */
function ask([width, height]) {
  widest = Math.min(picture.width, picture.height * width / height);
  part = { x: 0, y: 0, width: widest, height: widest * height / width };
  canvas.width = 960;
  canvas.height = Math.round(canvas.width * height / width);
  move((picture.width - part.width) / 2, (picture.height - part.height) / 2);
  status.textContent = "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
  });
}

async function cropped(file, [width, height]) {
  canvas.width = Math.max(1, Math.round(Math.min(width, part.width)));
  canvas.height = Math.max(1, Math.round(canvas.width * height / width));
  draw();
  const blob = await new Promise((resolve) => { canvas.toBlob(resolve, "image/webp", 0.92); });
  const name = `${file.name.replace(/\.[^.]*$/, "")}.${ENDINGS[blob.type]}`; // browsers without WebP make a PNG
  return new File([blob], name, { type: blob.type });
}

/* Below the input: what happened to the file. */
function say(input, text, again) {
  const field = input.closest(".field");
  let note = field.querySelector(".crop-note");
  if (!note) {
    note = document.createElement("div");
    note.className = "crop-note";
    note.setAttribute("role", "status");
    input.after(note);
  }
  note.replaceChildren();
  if (again) {
    const small = document.createElement("canvas");
    small.height = 96;
    small.width = Math.round(96 * canvas.width / canvas.height);
    small.getContext("2d").drawImage(canvas, 0, 0, small.width, small.height);
    small.setAttribute("aria-hidden", "true");
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Crop again" });
    button.className = "button button--quiet button--small";
    button.addEventListener("click", again);
    note.append(small, text, button);
  } else {
    note.append(text);
  }
}

function put(input, files) {
  const transfer = new DataTransfer();
  for (const file of files) transfer.items.add(file);
  input.files = transfer.files;
}

const size = (input) => input.dataset.crop.split("x").map(Number);
const own = new WeakSet(); // change events of this script

async function choose(input, file, before) {
  try {
    picture = await createImageBitmap(file);
  } catch {
    return; // no picture, or of a type that this browser cannot show: the server says which
  }
  const chosen = await ask(size(input));
  const isSent = Boolean(chosen) && "cropSend" in input.dataset;
  if (chosen === "crop") {
    put(input, [await cropped(file, size(input))]);
    if (!isSent) say(input, "Cropped, not saved yet.", () => choose(input, file, [...input.files]));
  } else if (chosen === "whole") {
    put(input, [file]);
    if (!isSent) say(input, "The whole picture, not saved yet.");
  } else {
    put(input, before);
  }
  picture.close();
  const event = new Event("change", { bubbles: true });
  own.add(event);
  input.dispatchEvent(event);
  if (isSent) {
    say(input, "Saving the picture…");
    input.form.requestSubmit();
  }
}

function prepare(input) {
  input.addEventListener("change", async (event) => {
    if (own.has(event)) return;
    const [file] = input.files;
    input.closest(".field").querySelector(".crop-note")?.remove();
    if (!file) return;
    const head = new TextDecoder("latin1").decode(await file.slice(0, 65536).arrayBuffer());
    if (ANIMATED.test(head)) say(input, "Pictures that may be animated are not cropped.");
    else await choose(input, file, []);
  });
}

if (dialog) {
  listen();
  for (const input of document.querySelectorAll("input[type=file][data-crop]")) prepare(input);
}
