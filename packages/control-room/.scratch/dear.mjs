import { start } from "./lib.mjs"
const { call, measure, stop, room } = await start()
const steps = [{ name: "a", task: { name: "t" } }]
let n = 0
const proc = async (input_schema) => { const r = await call("POST", "processes", { name: `p${n++}`, steps, input_schema, check_payloads: true }); return JSON.parse(r.text).id }
const cases = {
  "ints": [{ type: "array", items: { type: "integer" } }, Array.from({ length: 15000 }, (_, i) => i % 10)],
  "alternatives": [{ $ref: "#/$defs/t", $defs: { t: { anyOf: [{ type: "array", items: { $ref: "#/$defs/t" } , minItems: 1}, { type: "array", items: { $ref: "#/$defs/t" }, maxItems: 0 }, { type: "string"}, {type: "number"}, {type: "boolean"}, {type:"null"}, { type: "object", additionalProperties: { $ref: "#/$defs/t" } }] } } }, Array.from({ length: 40 }, () => Array.from({ length: 100 }, () => ({ a: 1 })))],
  "strings": [{ items: { pattern: "^[a-z]+$" } }, Array.from({ length: 100 }, () => "ab".repeat(150))],
  "enum": [{ items: { enum: Array.from({ length: 300 }, (_, i) => ({ a: i })) } }, Array.from({ length: 3000 }, (_, i) => ({ a: i % 300 }))],
}
for (const [name, [schema, payload]] of Object.entries(cases)) {
  const id = await proc(schema)
  for (let i = 0; i < 3; i++) {
  await measure(`20 x ${name} ${JSON.stringify(payload).length}`, "POST", "work-items/bulk", { process: { id }, payloads: Array.from({ length: 20 }, () => payload) })
  await measure(`20 of 1000 x ${name}`, "POST", "work-items/bulk", { process: { id }, payloads: Array.from({ length: 1000 }, (_, i) => i % 50 === 0 ? payload : payload.slice(0, 1)) })
  await measure(`20 of 1000 x start ${name}`, "POST", `processes/${id}/process-runs`, { type: "with_payloads", payloads: Array.from({ length: 1000 }, (_, i) => i % 50 === 0 ? payload : payload.slice(0, 1)) })
  }
}
stop(); await new Promise(r => setTimeout(r, 2000))
