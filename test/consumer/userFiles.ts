/**
 * The commands that load files of the user, from the installed package: there the command is a bundle with its own copy of `effect`,
 * and the files import the installed one.
 */
import { execFile, spawn } from "node:child_process"
import { deepStrictEqual, match } from "node:assert"
import { randomBytes } from "node:crypto"
import { createInterface } from "node:readline"

/** How the user starts programs. */
export interface User {
  /** The folder with `project/checked`. */
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  /** The installed command, a script for Node. */
  readonly command: string
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const signalbox = ({ command, env, folder }: User, ...args: ReadonlyArray<string>) =>
  new Promise<Ended>((resolve) => {
    const child = execFile(process.execPath, [command, ...args], { cwd: folder, env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr })
    )
  })

const rows = (stdout: string): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  stdout
    .trim()
    .split("\n")
    .map((row) => JSON.parse(row))

/** `flows check` of a program that runs flows of both kinds: those that are unchanged fit, and those that are changed do not. */
export const flowsCheck = async (user: User) => {
  const token = { SIGNALBOX_FLOWS_TOKEN: randomBytes(16).toString("hex") }
  const program = spawn(process.execPath, ["checked/program.ts"], {
    cwd: user.folder,
    env: { ...user.env, ...token },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const exited = new Promise<null>((resolve) => program.once("exit", () => resolve(null)))
  try {
    const started = new Promise<string>((resolve) => createInterface(program.stdout).once("line", resolve))
    const url = await Promise.race([started, exited])
    if (url === null) throw new Error("checked/program.ts ended before its flows wait")
    const check = (file: string, ...flags: ReadonlyArray<string>) =>
      signalbox({ ...user, env: { ...user.env, ...token } }, "flows", "check", file, "--url", url, ...flags)
    deepStrictEqual(await check("checked/deployed.ts"), {
      code: 0,
      stdout:
        "version    checked  fit  differ  unreadable  recorded step\n" +
        "letters@1  1        1    0       0\n" +
        "parcels@1  1        1    0       0\n",
      stderr: ""
    })
    const changed = await check("checked/changed.ts", "--json")
    deepStrictEqual(
      [
        changed.code,
        ...rows(changed.stdout).flatMap(({ flow, reached, recorded, tag }) =>
          tag === undefined ? [] : [[flow, tag, recorded, reached]]
        )
      ],
      [1, ["letters", "FlowChanged", "count", "verify"], ["parcels", "FlowChanged", "measure", "weigh"]]
    )
    match(changed.stderr, /incompatible executions with checked\/changed\.ts: 2/)
  } finally {
    program.kill("SIGTERM")
    await exited
  }
}

/** `apply` of a module to a control room with the tasks of a file, its second time, and a run of what it has deployed. */
export const applied = async (user: User, data: string) => {
  const run = (...args: ReadonlyArray<string>) => signalbox(user, ...args, "--json", "--data", data)
  const facts = ({ code, stderr, stdout }: Ended) => [
    code,
    stderr,
    rows(stdout).map(({ action, kind, name, status }) => [action, kind, name, status].join(" "))
  ]
  const named = ["asset currency", "process days", "process hello"]
  const before = await run("apply", "checked/workspace.ts", "--check")
  deepStrictEqual(before.code, 1)
  match(before.stderr, /the workspace differs from checked\/workspace\.ts/)
  deepStrictEqual(facts(await run("apply", "checked/workspace.ts")), [
    0,
    "",
    named.map((name) => `create ${name} done`)
  ])
  deepStrictEqual(facts(await run("apply", "checked/workspace.ts", "--check")), [
    0,
    "",
    named.map((name) => `unchanged ${name} unchanged`)
  ])
  const ended = await run("run", "hello", "--wait")
  deepStrictEqual(ended.code, 0)
  match(ended.stderr, /completed .* hello$/m)
}
