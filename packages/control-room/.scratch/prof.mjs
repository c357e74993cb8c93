import { readFileSync, readdirSync } from "node:fs"
const dir = process.argv[2]
for (const f of readdirSync(dir).filter((f) => f.endsWith(".cpuprofile"))) {
  const p = JSON.parse(readFileSync(`${dir}/${f}`))
  const self = new Map(), total = new Map(), byId = new Map(p.nodes.map((n) => [n.id, n])), parent = new Map()
  for (const n of p.nodes) for (const c of n.children ?? []) parent.set(c, n.id)
  const key = (n) => `${n.callFrame.functionName || "(anon)"} ${n.callFrame.url.split("/").slice(-3).join("/")}:${n.callFrame.lineNumber + 1}`
  p.samples.forEach((id, i) => { const dt = p.timeDeltas[i] / 1000; const k = key(byId.get(id)); self.set(k, (self.get(k) ?? 0) + dt); const seen = new Set(); for (let x = id; x !== undefined; x = parent.get(x)) { const kk = key(byId.get(x)); if (!seen.has(kk)) { seen.add(kk); total.set(kk, (total.get(kk) ?? 0) + dt) } } })
  const show = (m, n) => [...m].sort((a, b) => b[1] - a[1]).slice(0, n).forEach(([k, v]) => console.log(v.toFixed(0).padStart(7), k))
  console.log("SELF"); show(self, 22); console.log("TOTAL"); show(total, 70)
}
// The longest stretches without idle, with what was in them.
for (const f of readdirSync(dir).filter((f) => f.endsWith(".cpuprofile"))) {
  const p = JSON.parse(readFileSync(`${dir}/${f}`)); const byId = new Map(p.nodes.map((n) => [n.id, n])), parent = new Map()
  for (const n of p.nodes) for (const c of n.children ?? []) parent.set(c, n.id)
  const key = (n) => `${n.callFrame.functionName || "(anon)"} ${n.callFrame.url.split("/").slice(-2).join("/")}:${n.callFrame.lineNumber + 1}`
  const top = (id) => { let x = id, y = x; while (parent.get(x) !== undefined) { y = x; x = parent.get(x) } return y }
  let runs = [], cur = null, t = 0
  p.samples.forEach((id, i) => { const dt = p.timeDeltas[i] / 1000; t += dt; const tp = top(id); const nm = byId.get(tp).callFrame.functionName; if (nm === "(garbage collector)" || nm === "(program)") { if (cur) cur.ms += dt; return }
    if (cur && cur.tp === tp && nm !== "(idle)") { cur.ms += dt; cur.ids.push([id, dt]) } else { cur = { tp, nm, ms: dt, t, ids: [[id, dt]] }; runs.push(cur) } })
  for (const r of runs.filter((r) => r.nm !== "(idle)" && r.t > 4000).sort((a, b) => b.ms - a.ms).slice(0, +process.argv[3] || 6)) {
    const total = new Map()
    for (const [id, dt] of r.ids) { const seen = new Set(); for (let x = id; x !== undefined; x = parent.get(x)) { const k = key(byId.get(x)); if (!seen.has(k)) { seen.add(k); total.set(k, (total.get(k) ?? 0) + dt) } } }
    console.log(`--- at ${r.t.toFixed(0)} ${r.nm} ${r.ms.toFixed(0)} ms`); [...total].filter(([k]) => !/effect\.js|node:internal|^\(root|runMicro/.test(k)).sort((a, b) => b[1] - a[1]).slice(0, 14).forEach(([k, v]) => console.log(v.toFixed(0).padStart(6), k))
  }
}
