// A form with data-submit-once is sent once: a second click would get another answer, without the secret.
for (const form of document.querySelectorAll("form[data-submit-once]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.isSent) {
      event.preventDefault();
    }
    form.dataset.isSent = "yes";
  });
  // The way back shows this page as it was left.
  window.addEventListener("pageshow", () => { delete form.dataset.isSent; });
}
