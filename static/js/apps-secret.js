// The page that shows a secret once: its lines as a file, and no way on before they are saved.
for (const button of document.querySelectorAll("[data-download]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const lines = document.getElementById(button.dataset.download).textContent;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines], { type: "text/plain" }));
    link.download = button.dataset.filename;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
}

const saved = document.querySelector("[data-saved]");
const onward = document.querySelector("[data-continue]");
if (saved && onward) {
  const box = saved.querySelector("input");
  const { href } = onward;
  const follow = () => {
    if (box.checked) onward.href = href;
    else onward.removeAttribute("href");
    onward.setAttribute("aria-disabled", String(!box.checked));
  };
  saved.hidden = false;
  onward.setAttribute("role", "link"); // stays one while it leads nowhere
  box.addEventListener("change", follow);
  follow();
}
