// Shows the preview beside the form, and anew after each change. Without this script it opens in a new tab.
const button = document.querySelector("[data-preview]");
const place = document.querySelector("[data-preview-place]");
const form = button?.form;

if (form && place) {
  const pane = document.createElement("section");
  pane.className = "preview-pane";
  pane.setAttribute("aria-label", "Preview");
  const frame = document.createElement("iframe");
  frame.name = "profile-preview";
  frame.title = "Preview of your page";
  frame.setAttribute("sandbox", "allow-same-origin");
  pane.append(frame);
  button.textContent = "Preview";
  button.formTarget = frame.name;

  let waiting = 0;
  const refresh = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => form.requestSubmit(button), 600);
  };
  button.addEventListener("click", () => {
    if (!pane.isConnected) {
      place.append(pane);
      place.classList.add("preview-split--open");
      form.addEventListener("input", refresh);
    }
  });
  form.addEventListener("submit", () => clearTimeout(waiting));
}
