/**
 * What a built environment costs at each start of a task: from the start of the step run until the first line that the
 * robot prints, with a `conda.yaml` and without one, in turns, on one `signalbox up` with one worker. The environment is
 * built before, from a folder of wheels.
 *
 * `node bench/src/environments.ts [rounds]` (default 30); needs a `python3` and no network.
 */
import { spawn, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { availableParallelism, loadavg, tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as Wheels from "../../packages/testkit/src/Wheels.ts"

const rounds = Number(process.argv[2] ?? 30)
const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"))
const command = join(import.meta.dirname, "../../packages/signalbox/src/bin.ts")

// Without an environment the task gets a Python that is as empty as the environment: that of the machine loads what is
// installed there, which takes longer than what is measured here.
const asked = spawnSync("python3", ["-c", "import sys; print(sys.executable); print('%d.%d' % sys.version_info[:2])"])
const [python = "", minor = ""] = asked.stdout.toString().trim().split("\n")
const bin = join(folder, "bin")
const empty = join(folder, "empty")
if (spawnSync(python, ["-m", "venv", "--without-pip", empty]).status !== 0) throw new Error("python3 has no venv")
Wheels.program(bin, `python${minor}`, `exec '${python}' "$@"`)
Wheels.program(bin, "pip3", `${Wheels.runPip(python)} "$@"`)
const wheels = join(folder, "wheels")
Wheels.write(wheels, "greeting", "1.0")

const contenders = { "without an environment": false, "with one that is there": true }
const files = (isDescribed: boolean) => ({
  "robot.yaml": `tasks: { t: { shell: python main.py } }\n${isDescribed ? "condaConfigFile: conda.yaml\n" : ""}`,
  "main.py": 'print("first line", flush=True)\n',
  ...(isDescribed ? { "conda.yaml": `dependencies: [python=${minor}, pip: [greeting==1.0]]\n` } : {})
})
const lines: { packages: Record<string, object>; processes: Record<string, object> } = { packages: {}, processes: {} }
for (const [name, isDescribed] of Object.entries(contenders)) {
  const path = join(folder, name)
  mkdirSync(path)
  for (const [file, content] of Object.entries(files(isDescribed))) writeFileSync(join(path, file), content)
  lines.packages[name] = { folder: name }
  lines.processes[name] = { steps: [{ name: "s", task: { name: "t", package: name } }] }
}
const applied = join(folder, "control-room.yaml")
writeFileSync(applied, JSON.stringify(lines))

const env = { ...process.env, PATH: [bin, join(empty, "bin"), process.env["PATH"]].join(delimiter) }
const data = join(folder, "data")
const room = spawn(
  process.execPath,
  [command, "up", "--json", "--port=0", "--data", data, "--environments=venv", "--wheels", wheels],
  { env, stdio: ["ignore", "pipe", "inherit"] }
)
try {
  const ready = await new Promise<string>((resolve, reject) => {
    room.once("exit", (code) => reject(new Error(`signalbox up ended with ${code}`)))
    room.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().split("\n")[0] ?? ""))
  })
  const { api_key, base_url, workspace_id } = JSON.parse(ready)
  const call = async (path: string, body?: object) => {
    const response = await fetch(`${base_url}/workspaces/${workspace_id}/${path}`, {
      headers: { authorization: `Bearer ${api_key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  const apply = spawnSync(process.execPath, [command, "apply", applied, "--data", data], { encoding: "utf8" })
  if (apply.status !== 0) throw new Error(apply.stderr)
  const processes: ReadonlyArray<{ readonly id: string; readonly name: string }> = (await call("processes")).data

  /** Milliseconds from the start of the step run until its first line. */
  const start = async (name: string) => {
    const id = processes.find((found) => found.name === name)?.id
    const run = await call(`processes/${id}/process-runs`, {})
    let state = ""
    while (state !== "completed") {
      await sleep(20)
      ;({ state } = await call(`process-runs/${run.id}`))
      if (state === "unresolved") throw new Error(`${name}: the task failed`)
    }
    const [{ id: stepRun }] = (await call(`step-runs?process_run_id=${run.id}`)).data
    const events = (await call(`step-runs/${stepRun}/events`)).data
    const messages = (await call(`step-runs/${stepRun}/console-messages`)).data
    const begun = events.find((event: { readonly event_type: string }) => event.event_type === "START").timestamp
    const printed = messages.find((line: { readonly message: string }) => line.message === "first line").timestamp
    return Date.parse(printed) - Date.parse(begun)
  }

  const took = new Map<string, Array<number>>()
  for (const name of Object.keys(contenders)) await start(name)
  for (let round = 0; round < rounds; round++) {
    for (const name of Object.keys(contenders)) took.set(name, [...(took.get(name) ?? []), await start(name)])
  }
  const at = (numbers: ReadonlyArray<number>, part: number) =>
    numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) * part)] ?? 0
  for (const [name, all] of took) console.log(`${name}: median ${at(all, 0.5)} ms, 90 % in ${at(all, 0.9)} ms`)
  const [without = [], beside = []] = took.values()
  console.log(`an environment adds ${at(beside, 0.5) - at(without, 0.5)} ms (median of ${rounds}; aim: 300 ms),`)
  console.log(`on ${availableParallelism()} cores with a load of ${loadavg()[0]?.toFixed(1)}`)
} finally {
  room.kill()
  await new Promise((resolve) => room.once("exit", resolve))
  rmSync(folder, { recursive: true, force: true })
}
