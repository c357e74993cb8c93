import { start } from "./lib.mjs"
const { call, measure, stop, room } = await start()
const { id } = JSON.parse((await call("POST", "processes", { name: "p", steps: [{ name: "a", task: { name: "t" } }] })).text)
const base = { process: { id }, zone: "Europe/Berlin" }
for (let k = 0; k < 1; k++) {
for (let i = 0; i < 5; i++) for (const [n, f] of Object.entries({ commas: { cron: `${"0,".repeat(3e6)}0 6 * * *` }, spaces: { cron: " ".repeat(6e6) }, a: { cron: "a".repeat(6e6) }, zone: { cron: "0 6 * * *", zone: "x".repeat(6e6) } })) await measure(n, "POST", "schedules", { ...base, name: n, ...f })
}
stop(); await new Promise(r => setTimeout(r, 2000))
