// Menus close as menus do: by Escape, by a click elsewhere, and where another one opens.
const close = (except) => {
  for (const popup of document.querySelectorAll(".popup[open]")) if (popup !== except) popup.open = false;
};
document.addEventListener("click", (event) => close(event.target.closest(".popup")));
document.addEventListener("keydown", (event) => {
  const popup = event.target.closest(".popup[open]");
  if (event.key !== "Escape" || !popup) return;
  popup.open = false;
  popup.querySelector("summary").focus();
});
