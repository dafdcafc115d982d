// The menu scrolls below its search where the window is low: show in it where the reader is.
const menu = document.querySelector(".docs-nav .docs-menu");
const here = menu?.querySelector("[aria-current]");
if (here) {
  const [entry, outer] = [here.parentElement.getBoundingClientRect(), menu.getBoundingClientRect()]; // with what is below it
  if (entry.bottom > outer.bottom) menu.scrollTop += entry.top - outer.top - menu.clientHeight / 3;
}
