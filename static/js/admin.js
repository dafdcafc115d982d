// Names what Django's admin and its widgets leave without a name, for assistive technology.
"use strict";

(() => {
  const labelOf = (field) => document.querySelector(`label[for="${CSS.escape(field.id)}"]`)?.textContent.trim().replace(/:$/, "");

  // A heading may stand over two columns.
  const columnOf = (table, cell) => {
    let column = [...cell.parentElement.children].indexOf(cell);
    return [...table.querySelectorAll("thead th")].find((head) => (column -= head.colSpan) < 0);
  };

  const nameColumns = (table) => {
    for (const head of table.querySelectorAll("thead th")) {
      if (head.textContent.trim()) continue;
      const name = document.createElement("span");
      name.className = "visually-hidden";
      name.textContent = head.classList.contains("original") ? "Row" : "Links";
      head.append(name);
    }
    for (const field of table.querySelectorAll("tbody :is(input, select, textarea):not([type=hidden])")) {
      const cell = field.closest("td");
      const column = columnOf(table, cell);
      if (!labelOf(field)) field.setAttribute("aria-label", column?.textContent.trim() || field.name);
    }
  };

  const nameSearches = () => {
    for (const field of document.querySelectorAll("select.select2-hidden-accessible")) {
      const name = labelOf(field) || field.name;
      for (const part of field.parentElement.querySelectorAll(".select2-selection, .select2-selection__rendered")) {
        part.removeAttribute("aria-labelledby");
        part.setAttribute("aria-label", name);
      }
    }
  };

  addEventListener("load", () => {
    for (const table of document.querySelectorAll(".tabular table")) nameColumns(table);
    window.django?.jQuery?.(nameSearches); // after the handlers that make the searches
    for (const icon of document.querySelectorAll(".search-label-icon[aria-label]")) icon.setAttribute("role", "img");
    for (const group of document.querySelectorAll(".inline-group, .results")) group.tabIndex = 0;
  });
})();
