// Asks before typed text is lost, brings the current page of each menu into view, opens the part that the address names
// and the preview.
for (const link of document.querySelectorAll(".tabs [aria-current]")) {
  const strip = link.closest(".tabs");
  strip.scrollLeft = link.offsetLeft - strip.offsetLeft - (strip.clientWidth - link.offsetWidth) / 2;
}

function open() {
  const part = document.getElementById(location.hash.slice(1));
  for (let box = part; box; box = box.parentElement?.closest("details")) {
    if (box.tagName === "DETAILS") box.open = true;
  }
  part?.scrollIntoView();
}
if (location.hash) open();
addEventListener("hashchange", open);

/* The preview beside a list is open where there is room for it. */
const fold = document.querySelector(".preview-fold");
if (fold) fold.open = matchMedia("(width >= 72rem)").matches;

/* What a form would send. Files count by their names; the token of the page is no text of the user. */
const typed = (form) => JSON.stringify([...new FormData(form)].map(([name, value]) => [name, value.name ?? value]));

const forms = [...document.querySelectorAll("form.form[method=post]")];
const saved = new Map(forms.map((form) => [form, form.querySelector(".errorlist") ? "" : typed(form)]));
let isSent = false;

for (const form of forms) {
  form.addEventListener("submit", (event) => {
    const target = event.submitter?.formTarget;
    if (!target || target === "_self") isSent = true;
  });
}

// Browsers ask in their own words, for links, the way back and the closed window alike.
addEventListener("beforeunload", (event) => {
  if (!isSent && forms.some((form) => typed(form) !== saved.get(form))) event.preventDefault();
});
// A page that comes back out of the browser's memory has sent nothing yet.
addEventListener("pageshow", () => { isSent = false; });
