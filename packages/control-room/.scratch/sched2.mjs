import { start } from "./lib.mjs"
const { call, measure, stop, room } = await start()
const { id } = JSON.parse((await call("POST", "processes", { name: "p", steps: [{ name: "a", task: { name: "t" } }] })).text)
const base = { process: { id }, zone: "Europe/Berlin" }
const dates = (n) => Array.from({ length: n }, (_, i) => new Date(Date.UTC(2026, 10, 1 + i)).toISOString().slice(0, 10))
for (let i = 0; i < 12; i++) await measure("s", "POST", "schedules", { ...base, name: `s${i}`, cron: "0 6 * * *", calendar: { dates: dates(3650), otherwise: ["before", "skip", "after"][i%3] } })
for (let i = 0; i < 4; i++) await measure("s every", "POST", "schedules", { ...base, name: `t${i}`, every: "1 day", anchor: "2020-01-01T06:00:00Z", calendar: { dates: dates(3650), otherwise: ["before", "skip", "after"][i%3] } })
await measure("list", "GET", "schedules?limit=100")
stop(); await new Promise(r => setTimeout(r, 3000))
