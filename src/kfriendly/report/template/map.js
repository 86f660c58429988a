// The canvas: where points are, how they look, which one is under the pointer.
const canvas = document.getElementById("canvas"), stage = document.getElementById("stage");
const pen = canvas.getContext("2d");
const shown = {
  grouping: groupings.cluster,
  isolated: new Set(),  // groups; none means all
  found: null,          // Uint8Array of a search, or null
  picked: null,         // Uint8Array of a selection, or null
  at: -1,               // point under the pointer or the keys
  lasso: [],            // the line being drawn, in pixels
};
const view = { scale: 1, left: 0, top: 0, width: 1, height: 1 };
let marks = [];

function visible(i) {
  return (!shown.isolated.size || shown.isolated.has(shown.grouping.codes[i])) && (!shown.found || shown.found[i] === 1);
}
const screenX = (i) => view.left + (points.x[i] / 65535) * view.scale;
const screenY = (i) => view.top - (points.y[i] / 65535) * view.scale;

function fit() {
  const edge = 26;
  view.width = stage.clientWidth; view.height = stage.clientHeight;
  const across = told.map.width || 1e-9, up = told.map.height || 1e-9;
  view.scale = Math.max(1, Math.min((view.width - 2 * edge) / across, (view.height - 2 * edge) / up));
  view.left = (view.width - told.map.width * view.scale) / 2;
  view.top = (view.height + told.map.height * view.scale) / 2;
  view.whole = view.scale;
}

function resize() {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.round(stage.clientWidth * ratio), height = Math.round(stage.clientHeight * ratio);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width; canvas.height = height;
    fit();
  }
  recolour();
}

function zoom(factor, x = view.width / 2, y = view.height / 2) {
  const scale = Math.min(view.whole * 60, Math.max(view.whole * 0.5, view.scale * factor));
  const change = scale / view.scale;
  view.left = x - (x - view.left) * change;
  view.top = y - (y - view.top) * change;
  view.scale = scale;
  redraw();
}

function radius() {
  const base = Math.min(5, Math.max(1.7, 46 / Math.sqrt(points.n) + 1.3));
  return base * Math.min(2.2, Math.max(1, (view.scale / view.whole) ** 0.35));
}

function trace(pen, shape, r) {
  pen.beginPath();
  if (shape === 0) pen.arc(0, 0, r, 0, 2 * Math.PI);
  else if (shape === 1) pen.rect(-0.9 * r, -0.9 * r, 1.8 * r, 1.8 * r);
  else if (shape === 2) { pen.moveTo(0, -1.2 * r); pen.lineTo(1.15 * r, 0.9 * r); pen.lineTo(-1.15 * r, 0.9 * r); pen.closePath(); }
  else { pen.moveTo(0, -1.3 * r); pen.lineTo(1.3 * r, 0); pen.lineTo(0, 1.3 * r); pen.lineTo(-1.3 * r, 0); pen.closePath(); }
}

const colours = {};
function recolour() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["halo", "ink", "soft", "faint", "accent", "sheet"]) colours[name] = style.getPropertyValue("--" + name).trim();
  for (const group of shown.grouping.groups) group.fill = style.getPropertyValue("--" + group.colour).trim();
  redraw();
}

// A mark is drawn once and stamped for each point: twenty thousand paths are slow.
function makeMarks(r, ratio) {
  return shown.grouping.groups.map((group) => {
    const stamp = document.createElement("canvas");
    stamp.width = stamp.height = Math.ceil((2.6 * r + 3) * ratio);
    const own = stamp.getContext("2d");
    own.scale(ratio, ratio);
    own.translate(stamp.width / ratio / 2, stamp.height / ratio / 2);
    trace(own, group.shape, r);
    own.fillStyle = group.fill;
    own.fill();
    own.lineWidth = 0.6;
    own.strokeStyle = colours.halo;
    own.stroke();
    return stamp;
  });
}

let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

function draw() {
  const ratio = window.devicePixelRatio || 1, r = radius();
  marks = makeMarks(r, ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, view.width, view.height);
  pen.fillStyle = colours.faint;
  pen.globalAlpha = 0.45;
  const front = [], codes = shown.grouping.codes;
  for (let i = 0; i < points.n; i++) {
    if (visible(i)) { front.push(i); continue; }
    pen.fillRect(screenX(i) - 1, screenY(i) - 1, 2, 2);
  }
  for (const i of front) {
    const mark = marks[codes[i]], side = mark.width / ratio;
    pen.globalAlpha = shown.picked && !shown.picked[i] ? 0.18 : 0.88;
    pen.drawImage(mark, screenX(i) - side / 2, screenY(i) - side / 2, side, side);
  }
  pen.globalAlpha = 1;
  drawNumbers(front);
  drawCursor(r);
  drawLasso();
}

function median(values) {
  values.sort((a, b) => a - b);
  return values[values.length >> 1];
}

function drawNumbers(front) {
  if (!shown.grouping.numbered) return;
  const xs = {}, ys = {};
  for (const i of front) {
    const g = shown.grouping.codes[i];
    (xs[g] ||= []).push(screenX(i));
    (ys[g] ||= []).push(screenY(i));
  }
  pen.font = "700 14px system-ui, sans-serif";
  pen.textAlign = "center"; pen.textBaseline = "middle"; pen.lineJoin = "round";
  for (const g of Object.keys(xs)) {
    const x = median(xs[g]), y = median(ys[g]), key = shown.grouping.groups[g].key;
    const text = key.length > 18 ? key.slice(0, 17) + "…" : key;
    pen.lineWidth = 5; pen.strokeStyle = colours.halo; pen.strokeText(text, x, y);
    pen.fillStyle = colours.ink; pen.fillText(text, x, y);
  }
}

function drawCursor(r) {
  if (shown.at < 0) return;
  pen.save();
  pen.translate(screenX(shown.at), screenY(shown.at));
  trace(pen, shown.grouping.groups[shown.grouping.codes[shown.at]].shape, r + 3);
  pen.lineWidth = 2; pen.strokeStyle = colours.ink; pen.stroke();
  pen.restore();
}

function drawLasso() {
  if (shown.lasso.length < 2) return;
  pen.beginPath();
  shown.lasso.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.closePath();
  pen.globalAlpha = 0.12; pen.fillStyle = colours.accent; pen.fill();
  pen.globalAlpha = 1; pen.lineWidth = 1.5; pen.strokeStyle = colours.accent; pen.stroke();
}

function nearest(x, y, reach) {
  let best = -1, least = reach * reach;
  for (let i = 0; i < points.n; i++) {
    const a = screenX(i) - x, b = screenY(i) - y, d = a * a + b * b;
    if (d <= least && visible(i)) { least = d; best = i; }
  }
  return best;
}

// The next point in a direction: near, and not far off to the side.
function beside(from, dx, dy) {
  if (from < 0) return nearest(view.width / 2, view.height / 2, 1e9);
  let best = from, least = Infinity;
  for (let i = 0; i < points.n; i++) {
    if (i === from || !visible(i)) continue;
    const a = screenX(i) - screenX(from), b = screenY(i) - screenY(from);
    const ahead = a * dx + b * dy, aside = Math.abs(a * dy - b * dx);
    if (ahead <= 0.01 || aside > ahead) continue;
    const d = ahead + 2 * aside;
    if (d < least) { least = d; best = i; }
  }
  return best;
}

function inside(line, x, y) {
  let odd = false;
  for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
    const [a, b] = line[i], [c, d] = line[j];
    if (b > y !== d > y && x < ((c - a) * (y - b)) / (d - b) + a) odd = !odd;
  }
  return odd;
}
