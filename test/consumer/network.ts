/**
 * A network for a page: pages name port 4700, and names that only their readers have. Where the system can, each page has a network
 * of its own with names of its own, and two may be followed at once.
 */
import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import type { Duplex } from "node:stream"
import { pipeline } from "node:stream"
import { fileURLToPath } from "node:url"

/** A name in the network of a page, and where its connections go: the first of these sockets and ports that accepts one. */
export interface Door {
  readonly name: string
  readonly port: number
  /** Files of a certificate and its key; plain TCP without. */
  readonly tls?: { readonly cert: string; readonly key: string }
  readonly to: ReadonlyArray<string | number>
}

/** Each name has an address, so that two can have one port. */
export const addressOf = (index: number) => `127.0.0.${index + 2}`

/** What one end sends, the other receives; when one is closed, so is the other. */
export const relay = (one: Duplex, other: Duplex) => {
  pipeline(one, other, () => other.destroy())
  pipeline(other, one, () => one.destroy())
}

const script = 'ip link set lo up && mount --bind "$1" /etc/hosts && shift && exec "$@"'
const alone = (hosts: string) => ["unshare", "--map-root-user", "--net", "--mount", "sh", "-c", script, "sh", hosts]

export const isolated = spawnSync("unshare", [...alone("/etc/hosts").slice(1), "true"]).status === 0

const program = fileURLToPath(new URL("doors.ts", import.meta.url))

/** The command that runs another one in a network of its own, behind doors. `hosts` is the file for its names. */
export const within = (hosts: string, doors: ReadonlyArray<Door>, command: ReadonlyArray<string>) => {
  const names = doors.map(({ name }, index) => `${addressOf(index)} ${name}\n`)
  writeFileSync(hosts, ["127.0.0.1 localhost\n", ...names].join(""))
  const behind = doors.length === 0 ? [] : [process.execPath, program, JSON.stringify(doors)]
  return [...alone(hosts), ...behind, ...command]
}
