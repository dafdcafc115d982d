// A color picker beside each field of a color. The text stays what is sent: it may be empty, or have an opacity.
const toHex = (text) => {
  const digits = text.trim().replace(/^#/, "");
  if (/^[0-9a-f]{3}$/i.test(digits)) {
    return `#${[...digits].map((digit) => digit + digit).join("")}`;
  }
  return /^[0-9a-f]{6}([0-9a-f]{2})?$/i.test(digits) ? `#${digits.slice(0, 6)}` : null;
};

for (const field of document.querySelectorAll("input[data-color]")) {
  const picker = document.createElement("input");
  picker.type = "color";
  picker.className = "color-picker";
  picker.setAttribute("aria-label", `Pick: ${field.labels[0]?.firstChild.textContent.trim() ?? "color"}`);
  const follow = () => {
    picker.value = toHex(field.value) ?? "#808080";
    picker.classList.toggle("color-picker--none", toHex(field.value) === null);
  };
  picker.addEventListener("input", (event) => {
    event.stopPropagation();
    field.value = picker.value;
    picker.classList.remove("color-picker--none");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  field.addEventListener("input", follow);
  const pair = document.createElement("div");
  pair.className = "color-pair";
  field.replaceWith(pair);
  pair.append(field, picker);
  follow();
}
