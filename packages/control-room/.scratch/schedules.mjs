import { start } from "./lib.mjs"
const { call, measure, stop, room } = await start()
const { id } = JSON.parse((await call("POST", "processes", { name: "p", steps: [{ name: "a", task: { name: "t" } }] })).text)
const base = { process: { id }, zone: "Europe/Berlin" }
for (let i = 0; i < 20; i++) await call("POST", "schedules", { ...base, name: `w${i}`, cron: "0 6 * * *" })
const dates = (n) => Array.from({ length: n }, (_, i) => new Date(Date.UTC(2026, 10, 1 + i)).toISOString().slice(0, 10))
let n = 0
for (const op of ["schedules", "schedules/preview"]) {
  const m = (name, fields) => measure(`${op} ${name}`, "POST", op, { ...base, name: `s${n++}`, ...fields })
  await m("plain", { cron: "0 6 * * *" })
  await m("cron 6 MB commas", { cron: `${"0,".repeat(3e6)}0 6 * * *` })
  await m("cron 6 MB spaces", { cron: " ".repeat(6e6) })
  await m("cron 6 MB a", { cron: "a".repeat(6e6) })
  await m("zone 6 MB", { cron: "0 6 * * *", zone: "x".repeat(6e6) })
  await m("every 6 MB", { every: "9".repeat(6e6) + " minutes", anchor: "2026-01-01T00:00:00Z" })
  await m("at 6 MB", { at: "2026-01-01T00:00:00" + "0".repeat(6e6) + "Z" })
  await m("name 6 MB", { name: "x".repeat(6e6), cron: "0 6 * * *" })
  for (const otherwise of ["skip", "before", "after"]) for (const cron of ["0 6 * * *", "0 6 29 2 *", "* * * * *", "* * * * * *"]) await m(`3650 days ${otherwise} ${cron}`, { cron, calendar: { dates: dates(3650), otherwise } })
  for (const otherwise of ["skip", "before", "after"]) await m(`3650 days every day ${otherwise}`, { every: "1 day", anchor: "2020-01-01T06:00:00Z", calendar: { dates: dates(3650), otherwise } })
  await m(`3650 days every 1s skip`, { every: "1 second", anchor: "2020-01-01T06:00:00Z", calendar: { dates: dates(3650), otherwise: "skip" } })
  await m(`100000 days`, { cron: "0 6 * * *", calendar: { dates: dates(100000), otherwise: "skip" } })
  await m(`3660 days reversed, cron list`, { cron: "0,5,10 6 * * 1,2", calendar: { dates: dates(3660).reverse(), otherwise: "before" } })
  await m("cron 1000 chars", { cron: `${"0,".repeat(490)}0 6 * * *` })
}
stop()
