// What every page can do: contents beside it, parts that fold, tables that sort and show the columns one wants.
"use strict";
(() => {
  const MANY = 20, OPEN = 3; // headings of a long page; parts of a section that are open there

  const make = (tag, settings = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), settings);
    element.append(...children);
    return element;
  };

  // ---- parts that fold: everything between a heading and the next of its rank or above
  const rank = heading => Number(heading.tagName[1]);
  const headings = [...document.querySelectorAll("body h2, body h3")].filter(heading => !heading.closest("dialog, nav"));

  const below = heading => {
    const found = [];
    for (let next = heading.nextElementSibling; next; next = next.nextElementSibling) {
      if (/^H[23]$/.test(next.tagName) && rank(next) <= rank(heading)) break;
      found.push(next);
    }
    return found;
  };

  const fold = (heading, closed) => {
    heading.classList.toggle("closed", closed);
    heading.querySelector(".fold").setAttribute("aria-expanded", String(!closed));
    for (const part of below(heading)) part.classList.toggle("folded", closed);
    // A closed part inside an opened one stays closed.
    if (!closed) for (const part of below(heading)) if (part.classList.contains("closed")) fold(part, true);
  };

  const unfold = element => {
    for (const heading of headings)
      if (heading.classList.contains("closed") && below(heading).some(part => part.contains(element))) fold(heading, false);
  };

  for (const heading of headings) {
    heading.id ||= "part-" + (headings.indexOf(heading) + 1);
    const button = make("button", { className: "fold", type: "button", title: "fold or unfold" });
    button.setAttribute("aria-label", "fold or unfold: " + heading.textContent.trim());
    button.addEventListener("click", () => fold(heading, !heading.classList.contains("closed")));
    heading.prepend(button);
    button.setAttribute("aria-expanded", "true");
  }
  addEventListener("beforeprint", () => headings.forEach(heading => fold(heading, false)));

  // ---- contents
  const list = make("ol");
  const links = new Map();
  for (const heading of headings) {
    const words = heading.dataset.short || heading.textContent.trim();
    const link = make("a", { href: "#" + heading.id, textContent: words, title: heading.textContent.trim() });
    link.addEventListener("click", () => { unfold(heading); fold(heading, false); });
    list.append(make("li", { className: "rank-" + rank(heading) }, link));
    links.set(heading, link);
  }
  if (headings.length > 2) {
    const inner = make("details", {}, make("summary", { textContent: "Contents" }), list);
    document.body.prepend(make("nav", { className: "contents", ariaLabel: "contents" }, inner));
    document.body.classList.add("has-contents");
    const wide = matchMedia("(min-width: 75rem)");
    const follow = () => { inner.open = wide.matches; };
    wide.addEventListener("change", follow);
    follow();
    list.addEventListener("click", () => { if (!wide.matches) inner.open = false; });
    const seen = new IntersectionObserver(entries => {
      for (const entry of entries) if (entry.isIntersecting) {
        links.forEach(link => link.removeAttribute("aria-current"));
        links.get(entry.target).setAttribute("aria-current", "true");
        if (wide.matches) links.get(entry.target).scrollIntoView({ block: "nearest" });
      }
    }, { rootMargin: "0px 0px -75% 0px" });
    headings.forEach(heading => seen.observe(heading));
  }

  // ---- a long page begins with the first parts of each section open; the others are a click away
  if (headings.length > MANY) {
    const parts = new Map();
    for (const heading of headings.filter(heading => rank(heading) === 3)) {
      const number = (parts.get(heading.parentElement) ?? 0) + 1;
      parts.set(heading.parentElement, number);
      if (number > OPEN) fold(heading, true);
    }
  }

  // ---- links into folded parts
  const arrive = () => {
    const target = document.querySelector(":target");
    if (target) { unfold(target); target.scrollIntoView(); }
  };

  // ---- tables
  const value = cell => {
    const text = cell.dataset.value ?? cell.textContent.trim();
    const number = Number(text);
    return text === "" || Number.isNaN(number) ? text : number;
  };
  const missing = plain => plain === "" || plain === "-";
  const order = (left, right) =>
    typeof left === "number" && typeof right === "number" ? left - right : String(left).localeCompare(String(right));

  const sort = (table, column, head) => {
    const falling = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows].map(row => [value(row.cells[column]), row]);
    rows.sort(([left], [right]) => missing(left) - missing(right) || (falling ? order(right, left) : order(left, right)));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  };

  for (const table of document.querySelectorAll(".scroll table")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = make("button", { type: "button", className: "sort", title: "sort by this column" });
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, column, head));
      head.append(button);
    });
    if (heads.length < 5) continue;
    const chooser = make("details", { className: "chooser" }, make("summary", { textContent: "Columns" }));
    const choices = make("div");
    heads.forEach((head, column) => {
      const box = make("input", { type: "checkbox", checked: !head.hidden });
      box.addEventListener("change", () => {
        for (const row of table.rows) row.cells[column].hidden = !box.checked;
      });
      choices.append(make("label", {}, box, " " + head.textContent.trim()));
    });
    chooser.append(choices);
    table.closest(".scroll").before(chooser);
  }

  window.segstressFold = { unfold };
  addEventListener("hashchange", arrive);
  arrive();
})();
