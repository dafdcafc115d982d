// An error of a field that came back empty, such as "This field is required.", goes away when the field is filled.
const wasEmpty = (field) => {
  if (field.matches("select")) return ![...field.options].some((option) => option.defaultSelected && option.value);
  return field.matches("[type=checkbox], [type=radio]") ? !field.defaultChecked : !field.defaultValue;
};
const isFilled = (field) =>
  field.matches("[type=checkbox], [type=radio]") ? field.checked : Boolean(field.value.trim());

document.addEventListener("input", ({ target }) => {
  if (!target.matches('[aria-invalid="true"]') || !wasEmpty(target) || !isFilled(target)) return;
  const names = (target.getAttribute("aria-describedby") ?? "").split(" ");
  const errors = names.filter((name) => document.getElementById(name)?.matches(".errorlist"));
  if (!errors.length) return;
  errors.forEach((name) => document.getElementById(name).remove());
  target.removeAttribute("aria-invalid");
  target.setAttribute("aria-describedby", names.filter((name) => !errors.includes(name)).join(" "));
});
