
(() => {
  "use strict";
  const root = document.documentElement;
  const status = document.getElementById("said");
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const say = (text) => { status.textContent = ""; setTimeout(() => { status.textContent = text; }, 50); };
  root.classList.add("scripted");

  // Long tables show their first rows, in the order they have.
  const limit = (table) => {
    const shown = Number(table.dataset.shown || 0);
    const rows = table.tBodies[0].rows;
    for (let at = 0; at < rows.length; at += 1) rows[at].hidden = shown > 0 && at >= shown;
    const box = table.closest(".tabular");
    const count = box.querySelector(".count");
    if (count && shown) count.textContent = `${shown} of ${rows.length.toLocaleString("en")} rows`;
    else if (count) count.textContent = `${rows.length.toLocaleString("en")} rows`;
  };
  for (const table of document.querySelectorAll("table[data-shown]")) {
    const button = table.closest(".tabular").querySelector(".show-all");
    limit(table);
    button.hidden = false;
    button.addEventListener("click", () => {
      const first = table.tBodies[0].rows[Number(table.dataset.shown)];
      delete table.dataset.shown;
      limit(table);
      button.hidden = true;
      say(`All ${table.tBodies[0].rows.length} rows are shown.`);
      const link = first.querySelector("a, button");
      if (link) link.focus({ preventScroll: true }); else table.closest(".scroll").focus({ preventScroll: true });
    });
  }

  // Numbers as numbers, the rest as text; what is missing comes last either way.
  const key = (row, at, numbers) => {
    const cell = row.cells[at];
    if (cell.querySelector(".none")) return null;
    return numbers ? Number(cell.dataset.v) : cell.textContent;
  };
  const sort = (table, at, upwards) => {
    const rows = [...table.tBodies[0].rows];
    const given = rows.filter((row) => !row.cells[at].querySelector(".none"));
    const numbers = given.every((row) => row.cells[at].dataset.v !== undefined);
    const keyed = rows.map((row, place) => ({ row, place, key: key(row, at, numbers) }));
    keyed.sort((one, other) => {
      if (one.key === null || other.key === null) return (one.key === null) - (other.key === null) || one.place - other.place;
      const order = numbers ? one.key - other.key : collator.compare(one.key, other.key);
      return (upwards ? order : -order) || one.place - other.place;
    });
    table.tBodies[0].append(...keyed.map((each) => each.row));
    limit(table);
  };
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, at) => {
      const button = head.querySelector("button");
      button.disabled = false;
      button.addEventListener("click", () => {
        const upwards = head.getAttribute("aria-sort") !== "ascending";
        sort(table, at, upwards);
        for (const each of heads) each.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", upwards ? "ascending" : "descending");
        say(`Sorted by ${button.textContent.trim()}, ${upwards ? "ascending" : "descending"}.`);
      });
    });
  }

  // A case, or a text in full, opens where a link points to it, and can be left again.
  let opener = null;
  const open = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    const found = name && document.getElementById(name);
    if (!found) return;
    for (let one = found; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    if (found.tagName !== "DETAILS") return;
    found.querySelector("summary").focus({ preventScroll: true });
    found.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link) return;
    if (link.classList.contains("back") && opener && opener.isConnected && !opener.closest("[hidden]")) {
      event.preventDefault();
      opener.focus({ preventScroll: true });
      opener.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "center" });
      return;
    }
    if (link.matches(".open-dossier, .whole-text")) opener = link;
    if (link.hash === location.hash) open();
  });
  addEventListener("hashchange", open);
  open();

  // On paper everything is open.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const each of closed) each.open = true;
  });
  addEventListener("afterprint", () => {
    for (const each of closed) each.open = false;
    closed = [];
  });

  // The contents say where the reader is.
  const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
  const sections = [...document.querySelectorAll("main > section")].filter((each) => links.has(each.id));
  let current = null;
  let waiting = false;
  const here = () => {
    waiting = false;
    const line = innerHeight * 0.3;
    let at = sections[0];
    for (const each of sections) if (each.getBoundingClientRect().top <= line) at = each;
    if (!at || at === current) return;
    if (current) links.get(current.id).removeAttribute("aria-current");
    current = at;
    const link = links.get(at.id);
    link.setAttribute("aria-current", "location");
    const list = link.closest("ol");
    if (list.scrollWidth > list.clientWidth) list.scrollTo({ left: link.offsetLeft - list.offsetLeft - 16, behavior: calm ? "auto" : "smooth" });
  };
  addEventListener("scroll", () => {
    if (!waiting) { waiting = true; requestAnimationFrame(here); }
  }, { passive: true });
  here();
})();
