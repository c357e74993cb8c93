/**
 * Names of local files as names of the service: which it does not take, and which are one to it.
 */

/** Characters that the service takes in a name, and in a path below its drive. */
const mostInName = 255
const mostInPath = 400

const refusals: ReadonlyArray<readonly [refuses: (name: string) => boolean, why: string]> = [
  [(name) => !name.isWellFormed(), "it has broken Unicode"],
  [(name) => /["*:<>?/\\|]/.test(name), 'it has one of the characters " * : < > ? / \\ |'],
  // eslint-disable-next-line no-control-regex
  [(name) => /[\u0000-\u001f\u007f]/.test(name), "it has a control character"],
  [(name) => name.trim() !== name, "it begins or ends with a space"],
  [(name) => name.endsWith("."), "it ends with a dot"],
  [
    (name) => name.startsWith("~$"),
    "it begins with ~$, as files do that an office program keeps while it edits another"
  ],
  [(name) => /^(?:con|prn|aux|nul|com\d|lpt\d|\.lock)$/i.test(name), "it is reserved"],
  [(name) => /_vti_/i.test(name), "it has _vti_ in it, which is reserved"],
  [(name) => name.length > mostInName, `it is longer than ${mostInName} characters`]
]

/** Why the service does not take a name; null: it does, as far as is known here. */
export const refusalOf = (name: string): string | null => refusals.find(([refuses]) => refuses(name))?.[1] ?? null

/** The same, of a path below a folder, as `/A/b.txt`. */
export const pathRefusalOf = (path: string): string | null =>
  path.length - 1 > mostInPath ? `its path is longer than ${mostInPath} characters` : null

/** Equal for names that differ in case alone, or in how a letter with an accent is written: the service has room for one of them. */
export const keyOf = (name: string): string => name.normalize().toLowerCase()
