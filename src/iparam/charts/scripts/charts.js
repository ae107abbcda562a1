/* Every element with data-chart becomes a chart: drag to zoom in time, double-click to see all, values under the
   pointer. iparamCharts.mark(t) draws a line at a time and shows the values there. Nothing is loaded. */
"use strict";
(() => {
  const source = document.getElementById("charts");
  if (!source || typeof uPlot === "undefined") return;
  const data = JSON.parse(source.textContent);
  const color = (name, fallback) =>
    getComputedStyle(document.documentElement).getPropertyValue(name).trim() || fallback;
  const drawn = [];
  let now = null;

  const shown = (value) => (value == null ? "–" : Number(value.toPrecision(4)).toString());

  function marker(u) {
    if (now === null) return;
    const x = Math.round(u.valToPos(now, "x", true));
    if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
    u.ctx.save();
    u.ctx.strokeStyle = color("--ink", "#1a1a1a");
    u.ctx.lineWidth = Math.max(1, devicePixelRatio);
    u.ctx.setLineDash([]);
    u.ctx.beginPath();
    u.ctx.moveTo(x, u.bbox.top);
    u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
    u.ctx.stroke();
    u.ctx.restore();
  }

  function options(chart, width, height) {
    const axis = { stroke: color("--ink", "#1a1a1a"), grid: { stroke: color("--line", "#e3e3e3"), width: 1 },
      ticks: { stroke: color("--line", "#e3e3e3"), width: 1 } };
    return {
      width, height, title: chart.title,
      cursor: { sync: { key: "time" }, drag: { x: true, y: false } },
      scales: { x: { time: false } },
      legend: { live: true },
      axes: [{ ...axis, label: "time [s]", labelSize: 20, size: 36 }, { ...axis, size: 56, space: 22 }],
      series: [{ label: "time", value: (u, v) => (v == null ? "–" : v.toFixed(2) + " s") },
        ...chart.lines.map((line) => ({ label: line.label, stroke: line.color, width: 1.4,
          dash: line.dashed ? [6, 4] : undefined, points: { show: false }, value: (u, v) => shown(v) }))],
      hooks: { draw: [marker] },
    };
  }

  function draw() {
    while (drawn.length) drawn.pop().destroy();
    for (const place of document.querySelectorAll("[data-chart]")) {
      const chart = data[place.dataset.chart];
      if (!chart) continue;
      place.hidden = false;
      const width = Math.max(place.clientWidth - 2, 200);
      const height = Number(place.dataset.height || 220);
      drawn.push(new uPlot(options(chart, width, height),
        [chart.time, ...chart.lines.map((line) => line.values)], place));
    }
    document.documentElement.classList.add("charts-live");
  }

  let waiting = 0;
  const again = () => { clearTimeout(waiting); waiting = setTimeout(draw, 150); };
  window.iparamCharts = {
    mark(time) {
      now = time;
      for (const u of drawn) {
        u.redraw(false, false);
        if (u.cursor.left === undefined || u.cursor.left < 0) {
          const times = u.data[0];
          let low = 0, high = times.length - 1;
          while (high - low > 1) { const mid = (low + high) >> 1; if (times[mid] <= time) low = mid; else high = mid; }
          u.setLegend({ idx: low }, false);
        }
      }
    },
    count: () => drawn.length,
  };
  draw();
  addEventListener("resize", again);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
})();
