// What people do: point, click, search, draw round points, save, use keys.
const byId = (id) => document.getElementById(id);
const tip = byId("tip"), legend = byId("legend"), results = byId("results");
const many = (n) => n.toLocaleString("en");

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;  // never as HTML: it is the data's
  if (className) made.className = className;
  return made;
}

function markOf(group) {
  const paths = ["M5 0A5 5 0 1 1-5 0 5 5 0 1 1 5 0z", "M-4.4-4.4H4.4V4.4H-4.4z", "M0-5.6 5.4 4.2H-5.4z", "M0-6 6 0 0 6-6 0z"];
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "-6 -6 12 12");
  svg.setAttribute("class", "mark " + group.colour);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", paths[group.shape]);
  svg.append(path);
  return svg;
}

// The list of groups.
function fillLegend() {
  legend.replaceChildren(...shown.grouping.groups.map((group, g) => {
    const line = element("li"), button = element("button");
    button.type = "button";
    button.className = group.colour;
    button.title = group.name || group.key;
    button.append(markOf(group), element("b", group.key), element("span", group.name), element("i", many(group.count)));
    button.addEventListener("click", (event) => isolate(g, event.ctrlKey || event.metaKey || event.shiftKey));
    line.append(button);
    return line;
  }));
  markLegend();
}

function markLegend() {
  [...legend.querySelectorAll("button")].forEach((button, g) => button.setAttribute("aria-pressed", String(shown.isolated.has(g))));
  legend.parentElement.classList.toggle("some", shown.isolated.size > 0);
}

function isolate(group, more) {
  const only = shown.isolated.size === 1 && shown.isolated.has(group);
  if (more) shown.isolated.has(group) ? shown.isolated.delete(group) : shown.isolated.add(group);
  else shown.isolated = new Set(only ? [] : [group]);
  shown.picked = null;
  if (shown.at >= 0 && !visible(shown.at)) point(-1);
  markLegend(); tell(); redraw();
}

// What is chosen: a selection, else all that is visible.
function chosen() {
  const rows = [];
  for (let i = 0; i < points.n; i++) if (shown.picked ? shown.picked[i] : visible(i)) rows.push(i);
  return rows;
}

function tell() {
  const n = chosen().length, noun = told.noun;
  let text = `All ${many(points.n)} ${noun} shown.`;
  if (shown.picked) text = `${many(n)} ${noun} selected.`;
  else if (shown.found) text = `${many(n)} of ${many(points.n)} ${noun} match.`;
  else if (shown.isolated.size) text = `${many(n)} ${noun} of ${shown.isolated.size > 1 ? shown.isolated.size + " groups" : "one group"} shown.`;
  byId("status").textContent = text;
  byId("save").disabled = byId("copy").disabled = n === 0;
  byId("clear").disabled = !(shown.picked || shown.found || shown.isolated.size);
}

function showAll() {
  shown.isolated.clear();
  shown.found = shown.picked = null;
  byId("search").value = "";
  results.hidden = true;
  point(-1); markLegend(); tell(); redraw();
}

// The box beside a point.
let sheet = null;
function picture(i) {
  const side = points.sheet.size, made = element("canvas");
  const large = Math.max(1, Math.round(112 / side)) * side;
  made.width = made.height = side;
  made.style.width = made.style.height = large + "px";
  const stamp = () => made.getContext("2d").drawImage(sheet, (i % points.sheet.columns) * side, Math.floor(i / points.sheet.columns) * side, side, side, 0, 0, side, side);
  if (!sheet) { sheet = new Image(); sheet.src = points.sheet.url; }
  sheet.complete ? stamp() : sheet.addEventListener("load", stamp, { once: true });
  return made;
}

function describe(i) {
  const group = groupings.cluster.groups[points.cluster[i]];
  const parts = [];
  if (points.sheet) parts.push(picture(i));
  parts.push(element("div", points.id(i), "who"));
  const where = element("div", undefined, "where");
  const sure = (points.confidence[i] / 255).toFixed(2);
  where.append(markOf(group), element("span", `Cluster ${group.key}${group.name ? " · " + group.name : ""}`));
  parts.push(where, element("small", `confidence ${sure}` + (points.class ? ` · label ${told.classes[points.class[i]]}` : "")));
  if (points.texts) parts.push(element("div", points.texts[i], "text"));
  if (points.columns.length) {
    const list = element("dl");
    for (const column of points.columns) list.append(element("dt", column.name), element("dd", column.text(i)));
    parts.push(list);
  }
  return parts;
}

function point(i, spoken = false) {
  if (i === shown.at) return;
  shown.at = i;
  tip.hidden = i < 0;
  if (i >= 0) {
    tip.replaceChildren(...describe(i));
    const x = screenX(i), y = screenY(i), w = tip.offsetWidth, h = tip.offsetHeight;
    const left = x + 16 + w > view.width ? x - w - 16 : x + 16;
    tip.style.left = Math.max(4, Math.min(left, view.width - w - 4)) + "px";
    tip.style.top = Math.max(4, Math.min(y - h / 2, view.height - h - 4)) + "px";
    if (spoken) byId("spoken").textContent = tip.textContent;
  }
  redraw();
}

function comeTo(i) {
  const x = screenX(i), y = screenY(i), edge = 40;
  if (x < edge || y < edge || x > view.width - edge || y > view.height - edge) {
    view.left += view.width / 2 - x; view.top += view.height / 2 - y;
  }
  shown.at = -1;
  point(i, true);
}

// Search.
function search(text) {
  const wanted = text.trim().toLowerCase();
  shown.picked = null;
  if (!wanted) shown.found = null;
  else {
    shown.found = new Uint8Array(points.n);
    for (let i = 0; i < points.n; i++) shown.found[i] = searchable(i).includes(wanted) ? 1 : 0;
  }
  const first = wanted ? chosen().slice(0, 8) : [];
  results.replaceChildren(...first.map((i) => {
    const line = element("li"), button = element("button", points.id(i) + (points.texts ? "  " + points.texts[i] : ""));
    button.type = "button";
    button.addEventListener("click", () => comeTo(i));
    line.append(button);
    return line;
  }));
  results.hidden = !first.length;
  point(-1); tell(); redraw();
}

// Pointer: hover, click, drag, lasso.
let press = null;
function place(event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}
const lassoing = () => byId("lasso").getAttribute("aria-pressed") === "true";

canvas.addEventListener("pointerdown", (event) => {
  if (event.button) return;
  const [x, y] = place(event);
  press = { x, y, lastX: x, lastY: y, moved: false, lasso: lassoing() || event.shiftKey };
  canvas.setPointerCapture(event.pointerId);
  if (press.lasso) shown.lasso = [[x, y]];
});
canvas.addEventListener("pointermove", (event) => {
  const [x, y] = place(event);
  if (!press) { point(nearest(x, y, 14)); return; }
  if (Math.hypot(x - press.x, y - press.y) > 4) press.moved = true;
  if (!press.moved) return;
  point(-1);
  if (press.lasso) shown.lasso.push([x, y]);
  else {
    stage.classList.add("dragging");
    view.left += x - press.lastX; view.top += y - press.lastY;
  }
  press.lastX = x; press.lastY = y;
  redraw();
});
canvas.addEventListener("pointerup", (event) => {
  if (!press) return;
  const was = press, [x, y] = place(event);
  press = null;
  stage.classList.remove("dragging");
  if (was.lasso && shown.lasso.length > 2) pickInside(shown.lasso);
  shown.lasso = [];
  if (!was.moved) {
    const i = nearest(x, y, event.pointerType === "touch" ? 24 : 14);
    if (event.pointerType === "touch") point(i, true);
    else if (i >= 0) isolate(shown.grouping.codes[i], event.ctrlKey || event.metaKey);
  }
  redraw();
});
canvas.addEventListener("pointercancel", () => { press = null; shown.lasso = []; stage.classList.remove("dragging"); redraw(); });
canvas.addEventListener("pointerleave", () => { if (!press) point(-1); });
canvas.addEventListener("dblclick", () => { fit(); redraw(); });
canvas.addEventListener("wheel", (event) => {
  if (!(event.ctrlKey || event.metaKey || document.activeElement === canvas)) return;  // else the page scrolls
  event.preventDefault();
  zoom(Math.exp(-event.deltaY * 0.002), ...place(event));
  point(-1);
}, { passive: false });

function pickInside(line) {
  shown.picked = new Uint8Array(points.n);
  for (let i = 0; i < points.n; i++) shown.picked[i] = visible(i) && inside(line, screenX(i), screenY(i)) ? 1 : 0;
  if (!shown.picked.includes(1)) shown.picked = null;
  tell();
}

// Keys.
const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const step = steps[event.key];
  if (step) comeTo(beside(shown.at, ...step));
  else if (event.key === "Enter" && shown.at >= 0) isolate(shown.grouping.codes[shown.at], false);
  else if (event.key === " " && shown.at >= 0) pickOne(shown.at);
  else if (event.key === "+" || event.key === "=") zoom(1.3);
  else if (event.key === "-") zoom(1 / 1.3);
  else if (event.key === "0") { fit(); redraw(); }
  else if (event.key === "l" || event.key === "L") byId("lasso").click();
  else return;
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { showAll(); setLasso(false); }
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) { event.preventDefault(); byId("search").focus(); }
});

function pickOne(i) {
  shown.picked ||= new Uint8Array(points.n);
  shown.picked[i] ^= 1;
  if (!shown.picked.includes(1)) shown.picked = null;
  tell(); redraw();
}

// Saving.
const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
function table() {
  const lines = chosen().map((i) => [quoted(points.id(i)), points.rows[i], points.cluster[i], (points.confidence[i] / 255).toFixed(2)].join(","));
  return ["id,row,cluster,confidence", ...lines].join("\n") + "\n";
}
byId("save").addEventListener("click", () => {
  const link = element("a"), url = URL.createObjectURL(new Blob([table()], { type: "text/csv" }));
  link.href = url;
  link.download = (told.file.replace(/[^\w.-]+/g, "-").replace(/^-+|-+$/g, "") || "kfriendly") + "-ids.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
});
async function copy(text, button) {
  const before = button.textContent;
  try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; }
  catch { button.textContent = "Not allowed here"; }
  setTimeout(() => { button.textContent = before; }, 1500);
}
byId("copy").addEventListener("click", (event) => copy(chosen().map(points.id).join("\n"), event.target));
byId("copy-command").addEventListener("click", (event) => copy(byId("command").textContent, event.target));

// Tools and theme.
function setLasso(on) {
  byId("lasso").setAttribute("aria-pressed", String(on));
  stage.classList.toggle("lassoing", on);
}
byId("lasso").addEventListener("click", () => setLasso(!lassoing()));
byId("clear").addEventListener("click", showAll);
byId("in").addEventListener("click", () => zoom(1.4));
byId("out").addEventListener("click", () => zoom(1 / 1.4));
byId("fit").addEventListener("click", () => { fit(); redraw(); });
let typed = 0;
byId("search").addEventListener("input", (event) => { clearTimeout(typed); typed = setTimeout(() => search(event.target.value), 120); });
function colourBy(name) {
  byId("colour").value = name;
  shown.grouping = groupings[name];
  shown.isolated.clear();
  shown.picked = null;
  fillLegend(); tell(); recolour();
}
byId("colour").addEventListener("change", (event) => colourBy(event.target.value));
for (const button of document.querySelectorAll(".isolate")) {
  button.addEventListener("click", () => {
    showAll(); colourBy("cluster"); isolate(Number(button.dataset.cluster), false);
    byId("map").scrollIntoView(); canvas.focus({ preventScroll: true });
  });
}

const dark = window.matchMedia("(prefers-color-scheme: dark)");
let theme = dark.matches ? "dark" : "light";
function wear(name) { document.documentElement.dataset.theme = name; recolour(); }
byId("theme").addEventListener("click", () => { theme = theme === "dark" ? "light" : "dark"; wear(theme); });
dark.addEventListener("change", (event) => { theme = event.matches ? "dark" : "light"; wear(theme); });
window.addEventListener("beforeprint", () => {
  wear("light"); resize(); draw();
  for (const box of document.querySelectorAll("details")) box.open = true;
});
window.addEventListener("afterprint", () => { wear(theme); resize(); });
new ResizeObserver(resize).observe(stage);

wear(theme);
resize();
fillLegend();
tell();
