/**
 * Runs programs as units of systemd and containers do: as a user without rights, with a root that cannot be written but for one folder,
 * a /tmp of its own, and only its own processes in /proc. Without an engine or systemd as the first process; it needs root.
 */
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { spawnSync } from "node:child_process"

/** Where the program finds its folder, and what else was mounted. */
export const inside = "/mnt"

/** In a namespace of its own, so that nothing has to be undone. All are `exec`, so that signals reach the program. */
const script = `
mount --make-rprivate /
mount --bind "$FOLDER" ${inside}
for source in $SOURCES; do mount --bind "\${source#*=}" "${inside}/\${source%%=*}"; done
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t proc -o hidepid=invisible,subset=pid proc /proc 2> /dev/null || true
mount -o remount,bind,ro /
mount -o remount,bind,ro ${inside}
mount --bind ${inside}/data ${inside}/data
mount -o remount,bind,rw ${inside}/data
cd ${inside}/data
umask 0077
exec setpriv --reuid="$ID" --regid="$ID" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all "$@"
`

export interface Confined {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
}

/**
 * The command that runs another one confined. `folder` gets a folder \`data\`, the only one that can be written; \`sources\` are mounted
 * by their names beside it, however little their user may see of where they are.
 */
export const confined = (
  folder: string,
  user: number,
  sources: Readonly<Record<string, string>>,
  command: ReadonlyArray<string>
): Confined => {
  chmodSync(folder, 0o755)
  const data = join(folder, "data")
  if (!existsSync(data)) mkdirSync(data, { mode: 0o700 })
  chownSync(data, user, user)
  for (const [name, source] of Object.entries(sources)) {
    const place = join(folder, name)
    if (existsSync(place)) continue
    if (spawnSync("test", ["-d", source]).status === 0) mkdirSync(place)
    else writeFileSync(place, "")
  }
  return {
    program: "unshare",
    args: ["--mount", "--", "sh", "-euc", script, "sh", ...command],
    env: {
      FOLDER: folder,
      ID: String(user),
      SOURCES: Object.entries(sources)
        .map((pair) => pair.join("="))
        .join(" ")
    }
  }
}

/** Why nothing can be confined on this machine; false when it can. */
export const cannotConfine = (): string | false => {
  if (process.getuid?.() !== 0) return "only root can start a program as another user on a root that cannot be written"
  const ran = spawnSync("unshare", [
    "--mount",
    "--",
    "sh",
    "-euc",
    "mount --make-rprivate / && mount -o remount,bind,ro /"
  ])
  return ran.status === 0 ? false : "this machine lets nobody mount, so a root that cannot be written was not tried"
}
