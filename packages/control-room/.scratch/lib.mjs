import { fork } from "node:child_process"
import { mkdtempSync } from "node:fs"
import { fileURLToPath } from "node:url"
export const start = async () => {
  const here = (f) => fileURLToPath(new URL(f, import.meta.url))
  const child = fork(here("serve.ts"), [mkdtempSync("/tmp/scratch-room-")], { execArgv: [...(process.env.PROF ? ["--cpu-prof", "--cpu-prof-dir=" + process.env.PROF, "--cpu-prof-interval=200"] : []), "--import", here("monitor.mjs")], stdio: ["ignore", "pipe", "inherit", "ipc"] })
  const room = await new Promise((r) => { let s = ""; child.stdout.on("data", (d) => { s += d; const l = s.split("\n").find((x) => x.startsWith("{")); if (l) { try { r(JSON.parse(l)) } catch {} } else process.stderr.write(d) }) })
  const ask = (m) => new Promise((r) => { child.once("message", r); child.send(m) })
  const call = async (method, path, body, headers = {}) => {
    const t = performance.now()
    const res = await fetch(path.startsWith("http") ? path : `${room.origin}${path.startsWith("/") ? path : `/api/v1/workspaces/${room.workspaceId}/${path}`}`, { method, headers: { authorization: `RC-WSKEY ${room.key}`, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers }, body: body === undefined ? undefined : typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body) })
    const text = await res.text()
    return { status: res.status, text, ms: Math.round(performance.now() - t) }
  }
  const measure = async (name, ...args) => {
    await new Promise((r) => setTimeout(r, 200))
    await ask("reset"); const res = await call(...args); await new Promise((r) => setTimeout(r, 30)); const m = await ask("report")
    console.log(name.padEnd(44), JSON.stringify(m), res.status, `${res.ms}ms`, res.text.slice(0, 110))
    return res
  }
  return { room, call, measure, ask, stop: () => child.kill("SIGINT") }
}
