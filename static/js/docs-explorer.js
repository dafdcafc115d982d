// Sends the request of an endpoint's page from this browser, with a key that stays in its field. Without this script
// the form leads to a page that asks for the key.
const HEADERS = ["RateLimit", "RateLimit-Policy", "ETag", "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Content-Type", "X-Request-Id"];
const PATIENCE = 30_000; // milliseconds

const form = document.querySelector("form.explorer[data-path]");
const key = form.querySelector("#try-key");
const button = form.querySelector("button[type=submit]");
const answer = form.querySelector(".explorer__answer");
const errors = JSON.parse(document.getElementById("try-errors").textContent);
key.disabled = false;
let last = { target: "", etag: null, text: "" }; // the answer that the page shows, if it has an ETag

const hasBody = form.dataset.method !== "GET";

// The path with its parameters, and the parameters of the query that are filled in.
function address() {
  let path = form.dataset.path;
  const query = [];
  if (hasBody) return { path, query };
  for (const [name, value] of new FormData(form)) {
    const place = `{${name}}`;
    if (path.includes(place)) path = path.replace(place, () => encodeURIComponent(value));
    else if (value) query.push([name, value]);
  }
  return { path, query };
}

function target() {
  const { path, query } = address();
  return query.length ? `${path}?${query.map((pair) => pair.map(encodeURIComponent).join("=")).join("&")}` : path;
}

// The ETag of the answer that the page shows, where the request is the same again.
function condition() {
  return last.target === target() ? last.etag : null;
}

// JSON of the fields that are filled in; a list has commas between its values.
function bodyToSend() {
  const lists = form.dataset.lists.split(" ");
  const found = {};
  for (const [name, value] of new FormData(form)) {
    if (lists.includes(name)) found[name] = value.split(",").map((piece) => piece.trim()).filter(Boolean);
    else if (form.elements[name].type === "checkbox") found[name] = true;
    else if (value) found[name] = value;
  }
  return JSON.stringify(found);
}

function showCurl() {
  const quoted = (text) => `"${text.replace(/[\\"`$]/g, "\\$&")}"`;
  const { path, query } = address();
  const lines = [
    `curl ${query.length ? "--get " : ""}${quoted(form.dataset.origin + path)}`,
    ...query.map((pair) => `--data-urlencode ${quoted(pair.join("="))}`),
    "--fail-with-body",
    `--header "${form.dataset.header}: ${form.dataset.beforeKey}$API_KEY"`,
  ];
  if (hasBody) lines.push('--header "Content-Type: application/json"', `--data '${bodyToSend().replaceAll("'", "'\\''")}'`);
  const etag = condition();
  if (etag) lines.push(`--header ${quoted(`If-None-Match: ${etag}`)}`);
  document.getElementById("try-curl").textContent = lines.join(" \\\n  ");
}

function indented(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}

function errorOf(status, text) {
  try { return errors[`${status} ${JSON.parse(text).error}`]; } catch { return undefined; }
}

// Cause and fix as the table of errors on this page has them.
function showError(found) {
  const box = answer.querySelector(".explorer__error");
  box.hidden = !found;
  if (!found) return;
  const cells = document.getElementById(found.row).cells;
  box.querySelectorAll("span").forEach((place, index) => {
    place.replaceChildren(...[...cells[index + 2].childNodes].map((node) => node.cloneNode(true)));
  });
  box.querySelector("p > a:only-child").href = found.guide;
}

function show(status, headers, text, error) {
  answer.querySelector(".explorer__status").textContent = status;
  showError(error);
  const list = answer.querySelector(".explorer__headers");
  list.replaceChildren(...HEADERS.filter((name) => headers?.has(name)).flatMap((name) => {
    const [term, detail, code] = ["dt", "dd", "code"].map((tag) => document.createElement(tag));
    term.textContent = name;
    code.textContent = headers.get(name);
    detail.append(code);
    return [term, detail];
  }));
  answer.querySelector(".explorer__again").hidden = !headers?.has("ETag");
  answer.querySelector(".snippet").hidden = !headers;
  document.getElementById("try-body").textContent = text;
  answer.hidden = false;
}

async function send() {
  const [asked, etag, began] = [target(), condition(), performance.now()];
  const response = await fetch(asked, {
    method: form.dataset.method,
    headers: {
      [form.dataset.header]: form.dataset.beforeKey + key.value.trim(),
      ...(hasBody && { "Content-Type": "application/json" }),
      ...(etag && { "If-None-Match": etag }),
    },
    body: hasBody ? bodyToSend() : undefined,
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    signal: AbortSignal.timeout(PATIENCE),
  });
  const body = await response.text();
  const took = Math.round(performance.now() - began);
  const text = response.status === 304 ? last.text : body;
  last = { target: asked, etag: response.headers.get("ETag"), text };
  const status = `${response.status} ${response.statusText}`.trim();
  show(`${status} · ${took} ms`, response.headers, indented(text), errorOf(response.status, text));
  showCurl();
}

form.addEventListener("input", showCurl);
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  try {
    await send();
  } catch (problem) {
    show(problem.name === "TimeoutError" ? "No answer within 30 seconds. Send it again." : "The request could not be sent. Check the key for characters that a header cannot hold, and your connection.", null, "");
  } finally {
    button.removeAttribute("aria-disabled");
  }
});
showCurl();
// A page that comes back from the browser's history keeps no key.
addEventListener("pagehide", () => { key.value = ""; });
