/** Text of the audit. */
import type { Node } from "../phrase.ts"
import { phrase } from "../phrase.ts"

export const audit = {
  subtitle: "Who changed what",
  export: "Export",
  by: "By",
  action: "Action",
  resource: "Resource",
  changes: "Changes",
  chain: "Audit",
  ofWorkspace: "This workspace",
  ofRoom: "Room: accounts and sign-ins",
  allTypes: "All resources",
  anyTime: "Any time",
  lastDay: "Last 24 hours",
  lastMonth: "Last 30 days",
  system: "Control room",
  command: "Operator on the machine",
  none: "No changes",
  noneHint: "Changes by people and keys are listed here.",
  viewAll: "View all changes",
  digest: (bytes: number) => `(${bytes} bytes)`,
  fields: (n: number) => (n === 1 ? "1 field" : `${n} fields`),
  from: (address: string) => `from ${address}`,
  changedBy: (who: Node, when: Node) => phrase`changed by ${who}, ${when}`
}
