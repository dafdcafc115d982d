// A page that shows a secret once: its lines as a file, and no way on before they are saved.
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
if (saved) {
  const box = saved.querySelector("input");
  const onward = [...document.querySelectorAll("[data-continue]")].map((link) => ({ link, href: link.href }));
  const follow = () => {
    for (const { link, href } of onward) {
      if (box.checked) link.href = href;
      else link.removeAttribute("href");
      link.setAttribute("aria-disabled", String(!box.checked));
    }
  };
  saved.hidden = false;
  for (const { link } of onward) link.setAttribute("role", "link"); // stays one while it leads nowhere
  box.addEventListener("change", follow);
  follow();
}
