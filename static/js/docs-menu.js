// The menu scrolls below its search where the window is low: show in it where the reader is.
const menu = document.querySelector(".docs-nav .docs-menu");
const here = menu?.querySelector("[aria-current]");
if (here) {
  const [inner, outer] = [here.getBoundingClientRect(), menu.getBoundingClientRect()];
  if (inner.bottom > outer.bottom) menu.scrollTop += inner.top - outer.top - menu.clientHeight / 2;
}
