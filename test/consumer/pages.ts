/**
 * Follows pages of the documentation literally: writes the files whose fences have a `title`, runs the lines after `$` in order in
 * an empty folder, and compares what they print with what the page shows; `...` stands for any lines, and within a line for any text;
 * columns may be of another width.
 * A command must succeed, unless the next one shows its exit code.
 */
import { execFile } from "node:child_process"
import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { promisify, stripVTControlCharacters } from "node:util"
import { fileURLToPath } from "node:url"
import { type Door, isolated, within } from "./network.ts"

const install = fileURLToPath(new URL("install.ts", import.meta.url))

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

/** The sentences of a page. */
export const withoutFences = (text: string) => text.replace(/^( *)```[^]*?^\1```$/gm, "")

const commandsIn = (body: string): ReadonlyArray<Command> =>
  body
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const [line = "", ...expected] = text.trimEnd().split("\n")
      return { line, expected }
    })

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ {2,}/g, " {2,}")

const lineOf = (line: string) => `${line.trimEnd().split("...").map(escaped).join(".*")} *\\n`

const patternOf = (expected: ReadonlyArray<string>) =>
  new RegExp(`^${expected.map((line) => (line === "..." ? "(?:.*\\n)*?" : lineOf(line))).join("")}$`)

const marker = "-- next command --"

/** Whether a command shows how the one before it ended, which may then have failed. */
const showsExitCode = (line: string) => /\$\?/.test(line)

/** How a page installs: the program of the manager, the address of the registry in the network of the page, and what was installed. */
export interface Installing {
  readonly manager: string
  readonly registry: string
  readonly store: string
}

const quoted = (words: ReadonlyArray<string>) => words.map((word) => `'${word}'`).join(" ")

/**
 * `npx` runs what the page has installed, and else a command that is there already, so that nothing is fetched. `npm install` installs, without
 * what else `npm` would say.
 */
const programs = ({ manager, registry, store }: Installing) => ({
  npx: `#!/bin/sh
place=$PWD
while [ "$place" != / ]; do
  program=$place/node_modules/.bin/$1
  if [ -x "$program" ]; then shift; exec "$program" "$@"; fi
  place=$(dirname "$place")
done
exec "$@"
`,
  npm: `#!/bin/sh
PATH="\${PATH#*:}"
# The limits of tests are those of a machine that does nothing else.
[ "$*" = test ] && exec npm test -- --testTimeout=120000
[ "$1" = install ] || exec npm "$@"
shift
exec ${quoted([process.execPath, install, manager, registry, store])} "$@"
`
})

/** Of a page, in milliseconds. */
const limit = 300_000

/** What is left running is stopped, also what a package manager has started: with a session of its own, the whole group is. */
const prelude = isolated ? "trap 'trap : TERM; kill 0; wait' EXIT" : "trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT"

/** Follows the text of a page in an empty folder. Rejects with the command whose output differs. */
export const follow = async (
  page: string,
  text: string,
  folder: string,
  env: Readonly<Record<string, string>>,
  copies: Readonly<Record<string, string>>,
  doors: ReadonlyArray<Door>,
  installing: Installing
): Promise<void> => {
  mkdirSync(folder, { recursive: true })
  const parts = fences(text)
  const put = (name: string, body: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), body)
  }
  for (const { body, title } of parts) if (title !== undefined) put(title, body)
  for (const [name, from] of Object.entries(copies)) cpSync(from, join(folder, name), { recursive: true })
  const commands = parts.filter(({ language }) => language === "console").flatMap(({ body }) => commandsIn(body))
  if (commands.length === 0) throw new Error(`${page} has no commands`)
  for (const [name, body] of Object.entries(programs(installing))) {
    put(`.bin/${name}`, body)
    chmodSync(join(folder, ".bin", name), 0o755)
  }
  const PATH = [join(folder, ".bin"), env["PATH"]].join(delimiter)
  const end = [`code=$?`, `echo "${marker} $code"`]
  const lines = commands.flatMap(({ line }, index) => [
    // What stays in the background prints when it likes, also into what the next command shows, unless a file gets it.
    line.replace(/^([^>]*) &$/, "$1 >&2 &"),
    ...end,
    showsExitCode(commands[index + 1]?.line ?? "") ? "(exit $code)" : "[ $code = 0 ] || exit 0"
  ])
  const script = [prelude, ...lines, "exit 0"].join("\n")
  const bash = ["bash", "-c", script]
  const [file = "", ...args] = isolated ? within(join(folder, ".bin", "hosts"), doors, ["setsid", ...bash]) : bash
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
