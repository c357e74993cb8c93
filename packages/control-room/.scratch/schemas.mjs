import { start } from "./lib.mjs"
const { call, measure, stop, room } = await start()
const steps = [{ name: "a", task: { name: "t" } }]
let n = 0
const proc = (input_schema) => ({ name: `p${n++}`, steps, input_schema, check_payloads: true })
for (let i = 0; i < 30; i++) await call("POST", "processes", proc({ type: "object", properties: { a: { pattern: "^a+$" } } }))
await measure("warm", "POST", "processes", proc({ type: "number" }))
const nested = (k) => `(((((?:a{1,10}){1,10}b){1,10})${k}))`
const variants = {
  "ab50x50 *60": (k) => `${"(?:ab{50}){50}".repeat(60)}${k}`,
  "(a{1,30}){1,30}": (k) => `(?:a{1,30}){1,30}${k}`,
  "((a{9}){9}){9}": (k) => `(?:(?:a{9}){9}){9}${k}`,
  "((a?){40}){40}": (k) => `(?:(?:a?){40}){40}${k}`,
  "([a-z]{30}){30}": (k) => `(?:[a-z]{30}){30}${k}`,
  "(\\p{L}{30}){30}": (k) => `(?:\\p{L}{30}){30}${k}`,
  "([^\\w]{10}\\W{10}){20}": (k) => `(?:[^\\w]{10}\\W{10}){60}${k}`,
  "((((a*)*)*..": (k) => `${"(?:".repeat(150)}a${")*".repeat(150)}${k}`,
  "long classes": (k) => `[${Array.from({ length: 400 }, (_, i) => String.fromCodePoint(256 + 2 * i + (k % 7))).join("")}]${k}`,
  "\\p many": (k) => `${"\\p{L}\\P{Lu}".repeat(80)}${k}`,
  "[\\p many]": (k) => `[${"\\p{L}\\p{Lu}\\p{N}\\p{S}".repeat(20)}]{20}${k}`,
  "a|b alternation": (k) => `(?:${Array.from({ length: 300 }, (_, i) => "ab"[i % 2] + "c").join("|")})${k}`,
}
for (const [name, f] of Object.entries(variants)) for (const count of [12, 200]) {
  const list = Array.from({ length: count }, (_, k) => f(k))
  await measure(`${count} ${name}`, "POST", "processes", proc({ allOf: list.map((pattern) => ({ pattern })) }))
  await measure(`${count} names ${name}`, "POST", "processes", proc({ additionalProperties: false, patternProperties: Object.fromEntries(list.map((p) => [p, true])) }))
}
for (const len of [400, 500, 8000, 60000]) await measure(`chain ${len}`, "POST", "processes", proc({ $ref: "#/$defs/d0", $defs: Object.fromEntries(Array.from({ length: len }, (_, i) => [`d${i}`, i === len - 1 ? { type: "number" } : { $ref: `#/$defs/d${i + 1}` }])) }))
stop()
