// Shows the preview beside the form, and anew after each change; below the form, when the button is pressed. Without this
// script it opens in a new tab.
const button = document.querySelector("[data-preview]");
const form = button?.form;
const pane = document.querySelector(".preview-pane");
const frame = pane?.querySelector("iframe");

if (form && frame) {
  button.textContent = "Preview";
  button.formTarget = frame.name;

  let waiting = 0;
  const show = () => {
    clearTimeout(waiting);
    form.requestSubmit(button);
  };
  const isShown = () => getComputedStyle(pane).display !== "none";
  form.addEventListener("input", (event) => {
    clearTimeout(waiting);
    if (isShown()) waiting = setTimeout(show, event.target.type === "radio" ? 0 : 600);
  });
  form.addEventListener("submit", () => clearTimeout(waiting));
  button.addEventListener("click", (event) => {
    const isNew = !isShown();
    pane.classList.add("preview-pane--open");
    if (isNew && event.isTrusted) pane.scrollIntoView();
  });
  if (isShown()) show();
}
