import { start } from "./lib.mjs"
const { call, measure, stop, room } = await start()
const steps = [{ name: "a", task: { name: "t" } }]
let n = 0
const proc = async (input_schema) => JSON.parse((await call("POST", "processes", { name: `p${n++}`, steps, input_schema, check_payloads: true })).text).id
const id = await proc({ type: "array", uniqueItems: true })
const payload = Array.from({ length: 5000 }, (_, i) => ({ a: i, b: [i, { c: 1 }] }))
for (let i = 0; i < 4; i++) { await measure(`20 x unique`, "POST", "work-items/bulk", { process: { id }, payloads: Array.from({ length: 20 }, () => payload) })
await measure(`20 x start unique`, "POST", `processes/${id}/process-runs`, { type: "with_payloads", payloads: Array.from({ length: 20 }, () => payload) }) }
stop(); await new Promise(r => setTimeout(r, 2000))
