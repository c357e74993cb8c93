import { start } from "./lib.mjs"
const { call, measure, stop, room } = await start()
const steps = [{ name: "a", task: { name: "t" } }]
let n = 0
const proc = async (input_schema) => { const r = await call("POST", "processes", { name: `p${n++}`, steps, input_schema, check_payloads: true }); if (r.status !== 200) { console.log(r.text.slice(0,300)); return null }; return JSON.parse(r.text).id }
const simple = await proc({ type: "array", items: { type: "integer" } })
for (let i = 0; i < 20; i++) await call("POST", "work-items/bulk", { process: { id: simple }, payloads: Array.from({ length: 100 }, () => [1, 2, 3]) })
const nestedAny = (d) => d === 0 ? { type: "number" } : { anyOf: [{ items: nestedAny(d - 1) }, { items: { type: "string" } }] }
const cases = {
  "ints": [{ type: "array", items: { type: "integer" } }, Array.from({ length: 15000 }, (_, i) => i % 10)],
  "alternatives": [{ $ref: "#/$defs/t", $defs: { t: { anyOf: [{ type: "array", items: { $ref: "#/$defs/t" } , minItems: 1}, { type: "array", items: { $ref: "#/$defs/t" }, maxItems: 0 }, { type: "string"}, {type: "number"}, {type: "boolean"}, {type:"null"}, { type: "object", additionalProperties: { $ref: "#/$defs/t" } }] } } }, Array.from({ length: 40 }, () => Array.from({ length: 100 }, () => ({ a: 1 })))],
  "deep anyOf": [nestedAny(12), JSON.parse("[".repeat(12) + Array.from({ length: 2000 }, () => '"x"').join() + "]".repeat(12))],
  "unique": [{ type: "array", uniqueItems: true }, Array.from({ length: 5000 }, (_, i) => ({ a: i, b: [i, { c: 1 }] }))],
  "pattern": [{ items: { pattern: "^(?:[a-z]+ ?){0,200}$" } }, Array.from({ length: 4 }, () => "a b".repeat(300))],
  "pattern big": [{ pattern: "^(?:[a-z]+ ?){0,200}$" }, "a b".repeat(10_000)],
  "enum": [{ items: { enum: Array.from({ length: 1000 }, (_, i) => ({ a: i })) } }, Array.from({ length: 5000 }, (_, i) => ({ a: i % 1000 }))],
  "props": [{ patternProperties: { "^a.*z$": { type: "number" }, "b[0-9]+": true }, additionalProperties: { type: "number" } }, Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i]))],
  "propertyNames": [{ propertyNames: { pattern: "^(k|b)[0-9]{1,20}$" } }, Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i]))],
  "oneOf strings": [{ items: { oneOf: Array.from({ length: 100 }, (_, i) => ({ const: `v${i}` })) } }, Array.from({ length: 4000 }, (_, i) => `v${i % 100}`)],
  "contains": [{ contains: { const: "nope" } , items: {minLength: 1}}, Array.from({ length: 15000 }, () => "yes")],
}
for (const [name, [schema, payload]] of Object.entries(cases)) {
  const id = await proc(schema)
  if (id === null) continue
  const size = JSON.stringify(payload).length
  await measure(`1 x ${name} (${size})`, "POST", "work-items", { process: { id }, payload })
  const count = Math.min(1000, Math.floor(9e6 / size))
  for (const c of [20, count]) await measure(`${c} x ${name}`, "POST", "work-items/bulk", { process: { id }, payloads: Array.from({ length: c }, () => payload) })
  await measure(`20 x start ${name}`, "POST", `processes/${id}/process-runs`, { type: "with_payloads", payloads: Array.from({ length: 20 }, () => payload) })
}
// twenty dear among a thousand
const id = await proc(cases.pattern[0])
await measure(`20 dear of 1000`, "POST", "work-items/bulk", { process: { id }, payloads: Array.from({ length: 1000 }, (_, i) => i % 50 === 0 ? cases.pattern[1] : ["a"]) })
const id2 = await proc({ pattern: "^(?:[a-z]+ ?){0,200}$" })
for (const size of [1000, 4000, 12000, 40000, 100000, 200000]) await measure(`20 dear of 1000, ${size}`, "POST", "work-items/bulk", { process: { id: id2 }, payloads: Array.from({ length: 1000 }, (_, i) => i % 50 === 0 ? "a b".repeat(size / 3) : "a") })
stop()
