import { start } from "./lib.mjs"
const { call, measure, stop, room } = await start()
const { id } = JSON.parse((await call("POST", "processes", { name: "p", steps: [{ name: "a", task: { name: "t" } }] })).text)
const base = { process: { id }, zone: "Europe/Berlin" }
for (let k = 0; k < 2; k++) {
for (const [n, f] of Object.entries({ commas: { cron: `${"0,".repeat(3e6)}0 6 * * *` }, spaces: { cron: " ".repeat(6e6) }, a: { cron: "a".repeat(6e6) }, zone: { cron: "0 6 * * *", zone: "x".repeat(6e6) } })) await measure(n, "POST", "schedules", { ...base, name: n, ...f })
await measure("ints + big", "POST", "work-items", `{"process":{"id":"${id}"},"payload":[12345678901234567890${",1".repeat(3.5e6)}]}`)
await measure("raws", "POST", "work-items", `{"process":{"id":"${id}"},"payload":[1${",12345678901234567890".repeat(3.3e5)}]}`)
await measure("ints", "POST", "work-items", `{"process":{"id":"${id}"},"payload":[1${",1".repeat(3.5e6)}]}`)
}
stop()
