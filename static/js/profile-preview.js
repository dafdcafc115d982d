// Shows the preview in its frame beside the form, and renews it after each change; on narrow pages below the form, when the
// button is pressed. Without this script, and where the frame is shown, the button opens it in a new tab.
const button = document.querySelector("[data-preview]");
const form = button?.form;
const pane = document.querySelector(".preview-pane");
const frame = pane?.querySelector("iframe");

if (form && frame) {
  const sender = button.cloneNode();
  sender.hidden = true;
  sender.formAction += "?framed";
  sender.formTarget = frame.name;
  button.after(sender);

  let waiting = 0;
  const show = () => {
    clearTimeout(waiting);
    form.requestSubmit(sender);
  };
  const isShown = () => getComputedStyle(pane).display !== "none";
  const place = button.querySelector("span");
  const name = () => { place.hidden = !isShown(); };
  form.addEventListener("input", (event) => {
    clearTimeout(waiting);
    if (isShown()) waiting = setTimeout(show, event.target.type === "radio" ? 0 : 600);
  });
  button.addEventListener("click", (event) => {
    if (isShown()) return;
    event.preventDefault();
    pane.classList.add("preview-pane--open");
    name();
    show();
    pane.scrollIntoView();
  });

  // A preview shows no chosen file, so none is sent.
  let isPreview = false;
  form.addEventListener("submit", (event) => {
    clearTimeout(waiting);
    isPreview = event.submitter?.hasAttribute("data-preview") ?? false;
  });
  form.addEventListener("formdata", ({ formData }) => {
    for (const [field, value] of isPreview ? [...formData] : []) if (value instanceof File) formData.delete(field);
    isPreview = false;
  });

  // The page is shown where the reader was, at first where it changes; at its beginning, which says what was refused, and
  // that nothing has been typed.
  let top = null;
  frame.addEventListener("load", () => {
    const { contentDocument: page, contentWindow: view } = frame;
    const part = page.querySelector(form.dataset.shows ?? "body");
    if (!part || page.querySelector(".notice--warning, .notice--hint")) return;
    view.scrollTo(0, top ?? part.getBoundingClientRect().top - 16);
    view.addEventListener("scroll", () => { top = view.scrollY; });
  });

  matchMedia("(width >= 72rem)").addEventListener("change", name);
  name();
  if (isShown()) show();
}
