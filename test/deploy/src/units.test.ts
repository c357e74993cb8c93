/** The units of systemd: its own checks, and their commands as their users, as far as that can be without systemd as the first process. */
import assert from "node:assert/strict"
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, it } from "node:test"
import { cannotConfine, confined, inside } from "./Confined.ts"
import { missing, root, run, textOf } from "./Files.ts"
import { eventually, freePort, type Running, start, startRoom, unlessEnded } from "./Room.ts"

const inFolder = async (use: (folder: string) => void | Promise<void>) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-unit-"))
  try {
    await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const unitOf = (name: string) => textOf(`deploy/systemd/${name}.service`)

/** The most that `systemd-analyze security` may say, of 100. A worker runs programs of others, which need more. */
const exposure = { signalbox: 15, "signalbox-worker": 50 }

for (const [unit, most] of Object.entries(exposure)) {
  describe(`the unit ${unit}`, { skip: missing("systemd-analyze") }, () => {
    it("is one that systemd takes", () =>
      inFolder((folder) => {
        const command = join(folder, "command")
        writeFileSync(command, "#!/bin/sh\n")
        chmodSync(command, 0o755)
        const path = join(folder, `${unit}.service`)
        writeFileSync(path, unitOf(unit).replace("/usr/local/bin/signalbox", command))
        const ran = run("systemd-analyze", ["verify", "--man=no", path])
        assert.equal(ran?.status, 0, ran?.output)
        // Of other units of this machine it may say more.
        const ours = (ran?.output ?? "").split("\n").filter((line) => line.includes(`${unit}.service`))
        assert.deepEqual(ours, [])
      }))

    it(`exposes at most ${most / 10} of 10`, () => {
      const path = join(root, `deploy/systemd/${unit}.service`)
      const ran = run("systemd-analyze", ["security", "--no-pager", "--offline=true", `--threshold=${most}`, path])
      assert.equal(ran?.status, 0, ran?.output)
    })
  })
}

it("the page of the deployment has the most exposure of the room's unit", { skip: missing("systemd-analyze") }, () => {
  const path = join(root, "deploy/systemd/signalbox.service")
  const said = run("systemd-analyze", ["security", "--no-pager", "--offline=true", path])?.output ?? ""
  const [, level = ""] = /exposure level for \S+: (\d+\.\d)/.exec(said) ?? []
  // Newer versions of systemd count less.
  const [, most = ""] = /says at most (\d+\.\d) of 10/.exec(textOf("docs/operate/deploy.md")) ?? []
  assert.ok(Number(level) > 0 && Number(level) <= Number(most), `${level}, at most ${most}`)
})

/** Of no user of this machine. */
const user = 61234

/** Starts what a unit starts: its command, with its variables and those of its file, in its folder. */
const startUnit = (unit: string, folder: string, file: Readonly<Record<string, string>>): Running => {
  const text = unitOf(unit)
  const [, command = ""] = /^ExecStart=\/usr\/local\/bin\/signalbox (.*)$/m.exec(text) ?? []
  assert.notEqual(command, "", `${unit} has no ExecStart of this command`)
  assert.match(text, new RegExp(`^StateDirectory=${unit}$`, "m"))
  const variables = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = ""]) => line.split(" "))
  const assignments = [
    ...variables.map((assignment) => assignment.replace(`/var/lib/${unit}`, `${inside}/data`)),
    ...Object.entries(file).map((pair) => pair.join("=")),
    "PATH=/usr/local/bin:/usr/bin:/bin"
  ]
  const bin = [`${inside}/node`, `${inside}/repository/packages/signalbox/src/bin.ts`]
  const sources = { node: process.execPath, repository: root }
  const line = ["env", "-i", ...assignments, ...bin, ...command.split(" ")]
  const { args, env, program } = confined(folder, user, sources, line)
  return start(program, args, env)
}

describe(
  "the command of a unit, as a user without rights that can write its folder alone",
  { skip: cannotConfine() },
  () => {
    it("is confined in these tests", () =>
      inFolder(async (folder) => {
        const tried =
          'id -u; touch data-file && for path in /x /etc/x /mnt/x /root/x; do touch "$path" && echo "$path"; done; true'
        const { args, env, program } = confined(folder, user, {}, ["sh", "-c", tried])
        const running = start(program, args, env)
        assert.equal(await running.ended, 0, running.said())
        assert.match(running.said(), /^61234\n/)
        assert.doesNotMatch(running.said(), /^\//m)
        assert.equal(statSync(join(folder, "data/data-file")).uid, user)
      }))

    it("runs a room, whose files nobody else can read, and ends by SIGTERM", () =>
      inFolder(async (folder) => {
        const port = await freePort()
        const room = startUnit("signalbox", folder, { SIGNALBOX_PORT: String(port) })
        const ready = async () =>
          (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok === true ? true : undefined
        try {
          await unlessEnded(room, eventually("the room is ready", ready))
          for (const name of ["credentials.json", "master.key", "control-room.db"]) {
            assert.equal((statSync(join(folder, "data", name)).mode & 0o777).toString(8), "600", name)
          }
          assert.equal(await room.stop(), 0, room.said())
        } finally {
          room.child.kill("SIGKILL")
        }
      }))

    it("runs a worker, which ends by SIGTERM", () =>
      inFolder(async (folder) => {
        const room = await startRoom({ SIGNALBOX_PUBLIC_URL: "" })
        try {
          const token = await room.call("POST", "workers/link-tokens", {})
          const worker = startUnit("signalbox-worker", folder, {
            SIGNALBOX_BASE_URL: `http://127.0.0.1:${room.port}`,
            SIGNALBOX_LINK_TOKEN: String(token["link_token"])
          })
          const isIdle = async () => {
            const { data } = await room.call("GET", "workers")
            return JSON.stringify(data).includes('"idle"') ? true : undefined
          }
          try {
            await unlessEnded(worker, eventually("the worker is idle", isIdle))
            assert.equal(await worker.stop(), 0, worker.said())
          } finally {
            worker.child.kill("SIGKILL")
          }
        } finally {
          await room.close()
        }
      }))
  }
)
