// Tables sort by a click on a column's head: within their groups, which are never ranked together.
"use strict";
for (const table of document.querySelectorAll(".tab table")) {
  const heads = [...table.querySelectorAll("thead th")];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "descending" ? false : head.matches(".k-number, .k-bar") || head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      for (const body of table.tBodies) {
        const rows = [...body.rows].filter((row) => !row.classList.contains("group"));
        const value = (row) => row.cells[column].dataset.v;
        rows.sort((a, b) => {
          const [x, y] = [value(a), value(b)];
          if (x === "" || y === "") return (x === "") - (y === "");
          const order = head.matches(".k-number, .k-bar") ? x - y : x.localeCompare(y);
          return down ? -order : order;
        });
        body.append(...rows);
      }
    });
  });
}
// A report that nobody renews should not look fresh: the page says its own age once it has one.
const made = document.querySelector(".when time");
const age = document.getElementById("age");
if (made && age) {
  const days = Math.floor((Date.now() - Date.parse(made.dateTime)) / 864e5);
  if (days > 0) {
    age.textContent = ` That was ${days === 1 ? "a day" : `${days} days`} ago.`;
    made.title = age.textContent.trim();
  }
}
