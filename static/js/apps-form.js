// An app's form: rows of redirect URLs that open one by one and are checked while they are typed, and the consent
// screen beside the form, which follows it.
const form = document.querySelector("[data-app-form]");

if (form) {
  followRows(form);
  followPreview(form);
}

function followRows(form) {
  const rows = [...form.querySelectorAll("[data-row]")];
  const inputs = rows.map((row) => row.querySelector("input"));
  const add = form.querySelector("[data-add-row]");
  const filled = () => inputs.filter((input) => input.value.trim()).length;
  const shown = () => rows.filter((row) => !row.hidden).length;

  const open = (number) => {
    rows.forEach((row, at) => { row.hidden = at >= number && !inputs[at].value.trim(); });
    add.hidden = shown() >= rows.length;
  };
  const count = (row, input) => {
    const counter = row.querySelector("[data-counter]");
    const length = input.value.trim().length;
    counter.textContent = counter.textContent.replace(/^\d+/, length);
    counter.classList.toggle("counter--over", length > Number(counter.textContent.match(/of (\d+)/)[1]));
    form.querySelector("[data-row-count]").textContent = filled();
  };
  const show = (row, input, { problem, advice }) => {
    const message = row.querySelector("[data-message]");
    message.textContent = problem || advice;
    message.classList.toggle("errorlist", Boolean(problem));
    message.classList.toggle("meta", !problem);
    if (problem) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  };
  let asked = 0;
  const check = async () => {
    const body = new URLSearchParams(inputs.map((input) => ["redirect_urls", input.value]));
    body.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    const mine = ++asked;
    const answer = await post(form.dataset.checkUrl, body);
    if (!answer || mine !== asked) return;
    (await answer.json()).rows.forEach((result, at) => show(rows[at], inputs[at], result));
  };

  open(Math.max(1, filled()));
  add.addEventListener("click", () => {
    const next = rows.findIndex((row) => row.hidden);
    open(shown() + 1);
    inputs[next].focus();
  });
  rows.forEach((row, at) => {
    inputs[at].addEventListener("input", () => count(row, inputs[at]));
    inputs[at].addEventListener("change", check);
  });
}

function followPreview(form) {
  const place = document.querySelector("[data-preview-place]");
  form.querySelector("[data-preview-button]").hidden = true; // this script does its work
  let waiting = 0;
  let asked = 0;
  const refresh = async () => {
    const mine = ++asked;
    const answer = await post(form.dataset.previewUrl, new FormData(form));
    if (!answer || mine !== asked) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    place.replaceChildren(...page.body.childNodes);
  };
  const later = () => {
    clearTimeout(waiting);
    waiting = setTimeout(refresh, 400);
  };
  form.addEventListener("input", (event) => { if (event.target.type !== "file") later(); });
  form.addEventListener("change", later);
}

// The answer, or nothing where there is none to show: signed out meanwhile, or offline. Sending the form tells then.
async function post(url, body) {
  try {
    const answer = await fetch(url, { method: "POST", body, redirect: "error" });
    return answer.ok ? answer : null;
  } catch {
    return null;
  }
}
