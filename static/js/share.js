// Buttons with data-share="URL" open the system's share dialog. They stay hidden where the browser has none.
for (const button of document.querySelectorAll("[data-share]")) {
  button.hidden = !navigator.share;
  button.addEventListener("click", async () => {
    try {
      await navigator.share({ title: button.dataset.title, url: button.dataset.share });
    } catch (error) {
      if (error.name !== "AbortError") button.hidden = true;
    }
  });
}
