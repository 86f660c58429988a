"use strict";
// What the page knows of each point, read from the JSON beside it.
const told = JSON.parse(document.getElementById("points").textContent);

function unpack(text, kind) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  const kinds = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f4: Float32Array };
  return new kinds[kind](bytes.buffer);
}

const points = (() => {
  const m = told.map;
  const columns = m.columns.map((c) => {
    if (c.kind === "text") return { name: c.name, text: (i) => c.data[i] };
    if (c.kind === "coded") {
      const codes = unpack(c.data, "u2");
      return { name: c.name, text: (i) => c.values[codes[i]] };
    }
    const values = unpack(c.data, c.kind);
    return { name: c.name, text: (i) => written(values[i]) };
  });
  const rows = unpack(m.rows, "u4");
  return {
    n: m.n, rows, columns, texts: m.texts, sheet: m.sheet,
    x: unpack(m.x, "u2"), y: unpack(m.y, "u2"),
    cluster: unpack(m.cluster, "u2"), confidence: unpack(m.confidence, "u1"),
    class: m.class ? unpack(m.class, "u2") : null,
    id: (i) => (m.ids ? m.ids[i] : String(rows[i])),
  };
})();

function written(value) {
  if (Number.isNaN(value)) return "missing";
  if (Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(4)));
}

// All that can be searched of a point; made when the first search asks for it.
let haystack = null;
function searchable(i) {
  if (!haystack) {
    haystack = Array.from({ length: points.n }, (_, j) => {
      const parts = [points.id(j), told.clusters[points.cluster[j]]];
      if (points.texts) parts.push(points.texts[j]);
      if (points.class) parts.push(told.classes[points.class[j]]);
      for (const column of points.columns) parts.push(column.text(j));
      return parts.join("\n").toLowerCase();
    });
  }
  return haystack[i];
}

// Ten colours; then the shape of the mark changes.
const look = (slot) => ({ colour: "c" + (slot % 10), shape: Math.floor(slot / 10) % 4 });

// Three ways to colour the map; each gives every point to a group of the legend.
const groupings = {
  cluster: {
    codes: points.cluster,
    groups: told.clusters.map((name, k) => ({ key: String(k), name, ...look(told.slots[k]) })),
    numbered: true,
  },
  confidence: {
    codes: points.confidence.map((c) => Math.min(4, Math.floor((c / 255) * 5))),
    groups: ["below 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "above 0.8"].map((key, k) => ({ key, name: "", colour: "q" + k, shape: 0 })),
    numbered: false,
  },
};
if (points.class) {
  groupings.class = {
    codes: points.class,
    groups: told.classes.map((key, k) => ({ key, name: "", ...look(k) })),
    numbered: true,
  };
}
for (const grouping of Object.values(groupings)) {
  for (const group of grouping.groups) group.count = 0;
  for (const code of grouping.codes) grouping.groups[code].count++;
}
