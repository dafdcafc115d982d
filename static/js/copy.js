// Buttons with data-copy="id" copy that element's text. Without this script they stay hidden.
for (const button of document.querySelectorAll("[data-copy]")) {
  const label = button.textContent;
  const status = document.createElement("span");
  status.className = "visually-hidden";
  status.setAttribute("role", "status");
  button.after(status);
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = status.textContent = "Copied";
    } catch {
      button.textContent = status.textContent = "Select and copy it by hand";
    }
    setTimeout(() => { button.textContent = label; status.textContent = ""; }, 2000);
  });
}
