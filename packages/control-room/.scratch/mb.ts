import { dayOfDate } from "../../schedule/src/internal/Calendar.ts"
const dates = Array.from({ length: 3650 }, (_, i) => new Date(Date.UTC(2026, 10, 1 + i)).toISOString().slice(0, 10))
const old = (date: string) => { const m = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : NaN; return new Date(m).getUTCDate() === Number(date.slice(8)) ? m : NaN }
const re = /^\d{4}-(0[1-9]|1[0-2])-\d{2}$/
const C = (d: string, i: number) => d.charCodeAt(i) - 48
const utc = (date: string) => { if (!re.test(date)) return NaN; const dd = C(date,8)*10+C(date,9); const y = C(date,0)*1000+C(date,1)*100+C(date,2)*10+C(date,3); const m = Date.UTC(y, C(date,5)*10+C(date,6)-1, dd); return new Date(m).getUTCDate() === dd ? m : NaN }
for (const [n, f] of [["old", old], ["new", dayOfDate], ["utc", utc], ["re", (d: string) => re.test(d) ? 1 : 0], ["Number slice", (d: string) => Number(d.slice(8))], ["Date.UTC", () => Date.UTC(2026, 3, 4)], ["new Date", () => new Date(3e11).getUTCDate()]] as const) for (let k = 0; k < 50; k++) { const t = process.cpuUsage().user; let s = 0; for (const d of dates) s += f(d); const e = (process.cpuUsage().user - t)/1000; if (k % 10 === 0 ) console.log(n, k, e.toFixed(2), s) }
for (const d of ["0000-02-29","0001-01-01","0099-12-31","2000-02-29","1900-02-29","2026-12-31","9999-12-31","2026-04-31","2026-00-10","2026-10-00","2026-13-01"]) if (!Object.is(old(d), dayOfDate(d))) console.log("differs", d, old(d), dayOfDate(d))
