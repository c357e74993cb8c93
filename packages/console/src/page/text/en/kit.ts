/** Text of the parts that screens share. */
import { count } from "../../format.ts"
import { type Node, phrase } from "../phrase.ts"

export const kit = {
  notYet: "not yet",
  loading: "Loading",
  undo: "Undo",
  copied: "Copied",
  selected: "Selected: press Ctrl-C",
  copyLabel: (label: string) => `Copy ${label}`,
  copy: "Copy",
  confirmName: (name: string) => `Type ${name} to confirm`,
  fileHint: (hint: Node) => phrase`${hint}Choose or drop a file.`,
  progress: "Upload progress",
  selectAll: "Select all on this page",
  selectRow: "Select row",
  selectedRows: (n: number) => `${count(n)} selected`,
  clearSelection: "Clear selection",
  more: "Load more",
  tooMany: "Too many rows",
  tooManyHint: "Narrow the list with filters.",
  uploadCut: "The upload was interrupted and nothing was stored. Try again.",
  bytes: (n: string) => `${n} bytes`,
  progressOf: (name: string) => `Upload progress of ${name}`,
  dropFiles: "or drop files here",
  dropFile: "or drop a file here"
}
