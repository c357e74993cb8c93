/**
 * Follows pages of the documentation literally: writes the files whose fences have a `title`, runs the lines after `$` in order in
 * an empty folder, and compares what they print with what the page shows; `...` stands for any lines, and within a line for any text;
 * columns may be of another width.
 * A command must succeed, unless the next one shows its exit code.
 */
import { execFile, spawnSync } from "node:child_process"
import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { promisify, stripVTControlCharacters } from "node:util"

interface Command {
  readonly line: string
  readonly expected: ReadonlyArray<string>
}

/** The fences of a page, also those without a language, and those in lists. */
export const fences = (text: string) =>
  [...text.matchAll(/^( *)```(\w*)(?: title="([^"]+)")?\n([^]*?)^\1```$/gm)].map(
    ([, indent = "", language = "", title, body = ""]) => ({
      language,
      title,
      body: body.replace(new RegExp(`^${indent}`, "gm"), "")
    })
  )

/** The commands of a page, in order. */
export const commandsIn = (text: string): ReadonlyArray<Command> =>
  fences(text)
    .filter(({ language }) => language === "console")
    .flatMap(({ body }) => body.split(/^\$ /m).slice(1))
    .map((command) => {
      const [line = "", ...expected] = command.trimEnd().split("\n")
      return { line, expected }
    })

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ {2,}/g, " {2,}")

const lineOf = (line: string) => `${line.trimEnd().split("...").map(escaped).join(".*")} *\\n`

const patternOf = (expected: ReadonlyArray<string>) =>
  new RegExp(`^${expected.map((line) => (line === "..." ? "(?:.*\\n)*?" : lineOf(line))).join("")}$`)

const marker = "-- next command --"

/** Whether a command shows how the one before it ended, which may then have failed. */
const showsExitCode = (line: string) => /\$\?/.test(line)

/** The packages are installed above the folder, so that nothing is fetched. */
const programs = {
  npx: '#!/bin/sh\nexec "$@"\n',
  npm: '#!/bin/sh\n[ "$1" = install ] && exit 0\nPATH="${PATH#*:}" exec npm "$@"\n'
}

/** Of a page, in milliseconds. */
const limit = 300_000

/** What is left running is stopped. */
const prelude = "trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT"

/**
 * Pages name port 4700: where the system can, each has a network of its own, with the hosts of a file, and several may be followed at
 * the same time. `first` is run before the program.
 */
const alone = (hosts: string, first = "true") => [
  "unshare",
  "--map-root-user",
  "--net",
  "--mount",
  "sh",
  "-c",
  `ip link set lo up && mount --bind '${hosts}' /etc/hosts && ${first} && exec "$@"`,
  "sh"
]
export const isolated = spawnSync("unshare", [...alone("/etc/hosts").slice(1), "true"]).status === 0

/** The command that makes services reachable at their ports. */
const bridged = (folder: string, services: Readonly<Record<string, string>>) => {
  const ports = Object.entries(services).map(([address, socket]) => `'${address.split(":")[1] ?? ""}=${socket}'`)
  if (ports.length === 0) return undefined
  const ready = join(folder, ".bin/ready")
  const bridge = `node '${join(import.meta.dirname, "bridge.ts")}' '${ready}' ${ports.join(" ")}`
  return `{ ${bridge} & until [ -e '${ready}' ]; do sleep 0.05; done; }`
}

/**
 * Follows the text of a page in an empty folder. `services` are the sockets of servers by the address that the page has; a network of its own is
 * needed for them. Rejects with the command whose output differs.
 */
export const follow = async (
  page: string,
  text: string,
  folder: string,
  env: Readonly<Record<string, string>>,
  copies: Readonly<Record<string, string>>,
  services: Readonly<Record<string, string>>
): Promise<void> => {
  mkdirSync(folder, { recursive: true })
  const parts = fences(text)
  const put = (name: string, body: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), body)
  }
  for (const { body, title } of parts) if (title !== undefined) put(title, body)
  for (const [name, from] of Object.entries(copies)) cpSync(from, join(folder, name), { recursive: true })
  const commands = commandsIn(text)
  if (commands.length === 0) throw new Error(`${page} has no commands`)
  for (const [name, body] of Object.entries(programs)) {
    put(`.bin/${name}`, body)
    chmodSync(join(folder, ".bin", name), 0o755)
  }
  const PATH = [join(folder, ".bin"), env["PATH"]].join(delimiter)
  const end = [`code=$?`, `echo "${marker} $code"`]
  const lines = commands.flatMap(({ line }, index) => [
    line,
    ...end,
    showsExitCode(commands[index + 1]?.line ?? "") ? "(exit $code)" : "[ $code = 0 ] || exit 0"
  ])
  const addresses = Object.keys(services).map((address) => address.split(":"))
  put(".bin/hosts", ["127.0.0.1 localhost", ...addresses.map(([host = ""]) => `127.0.0.1 ${host}`), ""].join("\n"))
  const script = [prelude, ...lines, "exit 0"].join("\n")
  const around = isolated ? alone(join(folder, ".bin/hosts"), bridged(folder, services)) : []
  const [file = "bash", ...args] = [...around, "bash", "-c", script]
  const { stderr, stdout } = await promisify(execFile)(file, args, {
    cwd: folder,
    env: { ...env, PATH },
    timeout: limit
  }).catch(({ stderr, stdout }: { readonly stderr: string; readonly stdout: string }) => {
    throw new Error(`${page} did not end within ${limit / 1000} seconds; it printed\n${stdout}${stderr}`)
  })
  const outputs = stdout.split(new RegExp(`${marker} (\\d+)\n`))
  for (const [index, { expected, line }] of commands.entries()) {
    const [printed = "", code] = outputs.slice(2 * index)
    if (code !== "0" && !showsExitCode(commands[index + 1]?.line ?? "")) {
      throw new Error(`${page}: \`${line}\` ends with ${String(code)}\n${printed}${stderr}`)
    }
    const said = stripVTControlCharacters(printed).replace(/[^\n]$/, "$&\n")
    if (patternOf(expected).test(said)) continue
    throw new Error(`${page}: \`${line}\` prints\n${said}in place of\n${expected.join("\n")}`)
  }
}
