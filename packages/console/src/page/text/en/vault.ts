/** Text of secrets. */
import { type Node, phrase } from "../phrase.ts"
import { several } from "./several.ts"

export const vault = {
  secrets: "Secrets",
  purpose: "Purpose",
  newestOnly: (command: Node) => phrase`Only the newest secrets are shown. ${command} lists all.`,
  new: "New secret",
  subtitle: "Values are set here and readable only by robots.",
  none: "No secrets yet",
  keys: "Keys",
  noKeys: "No keys",
  noKeysHint: "Robots find no values in this secret.",
  valueHidden: "value readable only by robots",
  deleteSecret: "Delete secret",
  deleted: (name: string) => `Secret ${name} deleted.`,
  notText: "The file is not text.",
  valueTitle: (n: number) => `Value ${n}`,
  keyExample: "such as password",
  value: "Value",
  unchanged: "Unchanged",
  valueFile: "File with the value",
  valueFileHint: "The text of the file becomes the value.",
  enterValue: "Enter value",
  loadFromFile: "Load from file",
  removeValue: (n: number) => `Remove value ${n}`,
  keyTwice: (key: string) => `Key ${key} is used twice: give each value its own key.`,
  editTitle: (name: string) => `Edit ${name}`,
  create: "Create secret",
  created: "Secret created.",
  updated: (name: string) => `Secret ${name} updated.`,
  nameHint: "Robots request the secret by this name; letters, digits and underscores",
  keptHint: (removed: Node) => phrase`Values left empty stay unchanged: values cannot be shown. ${removed}`,
  removedHint: "Removed values are deleted permanently.",
  addValue: "Add value",
  noneHint: (canWrite: boolean, command: Node) =>
    phrase`A secret stores passwords and keys for robots, encrypted. ${canWrite ? "Create a secret here or with" : "Secrets are created here or with"} ${command}`,
  keyCount: (n: number) => several(n, "key"),
  deleteHint: (n: number) =>
    `${several(n, "value")} will be deleted permanently, and robots, git sources and alerts that use the secret will fail. This action cannot be undone.`
}
