// Buttons with data-copy="id" copy that element's text, or the value of that field. Without this script they stay hidden.
for (const button of document.querySelectorAll("[data-copy]")) {
  const label = button.textContent;
  const status = document.createElement("span");
  status.className = "visually-hidden";
  status.setAttribute("role", "status");
  button.after(status);
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    try {
      const source = document.getElementById(button.dataset.copy);
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      button.textContent = status.textContent = "Copied";
    } catch {
      button.textContent = status.textContent = "Select and copy it by hand";
    }
    setTimeout(() => { button.textContent = label; status.textContent = ""; }, 2000);
  });
}
