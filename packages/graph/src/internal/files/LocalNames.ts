/**
 * Names of the service as names of local files.
 */

/** What no file may be called on Windows, whatever its extension. */
const devices = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?$/i

/** A name that can't leave its folder, and that the platform takes. What it does not take becomes `_`. */
export const localName = (name: string, windows: boolean): string => {
  const plain = name.toWellFormed().replace(/[/\0]/g, "_")
  const safe = windows
    ? plain
        // eslint-disable-next-line no-control-regex
        .replace(/[\u0000-\u001f<>:"\\|?*]/g, "_")
        .replace(/[. ]+$/, (end) => "_".repeat(end.length))
        .replace(devices, (device) => `_${device}`)
    : plain
  return safe === "" ? "_" : /^\.{1,2}$/.test(safe) ? safe.replaceAll(".", "_") : safe
}

/** Names within one folder, none twice: also those that differ in case alone, which many disks take for one. */
export const makeNames = (windows: boolean) => {
  const taken = new Set<string>()
  return (name: string): string => {
    const safe = localName(name, windows)
    const dot = safe.lastIndexOf(".")
    const [stem, extension] = dot > 0 ? [safe.slice(0, dot), safe.slice(dot)] : [safe, ""]
    let free = safe
    for (let n = 2; taken.has(free.normalize().toLowerCase()); n++) free = `${stem} (${n})${extension}`
    taken.add(free.normalize().toLowerCase())
    return free
  }
}
