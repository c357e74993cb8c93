/**
 * What the graph has and the sandbox has not, by the words that addresses have for it. The README lists them.
 */

const words = {
  roots:
    "applications auditLogs communications deviceManagement devices directory directoryObjects domains education " +
    "external identity invitations organization reports search security servicePrincipals solutions teams",
  users:
    "calendar calendars chats contacts createdObjects events insights joinedTeams licenseDetails " +
    "onenote outlook ownedObjects people photo photos planner presence settings teamwork todo transitiveMemberOf",
  items:
    "activities analytics assignSensitivityLabel bundles extractSensitivityLabels follow following preview restore " +
    "retentionLabel unfollow validatePermission",
  workbooks:
    "application boundingRect charts clearFilters columnsAfter columnsBefore comments convertToRange entireColumn entireRow " +
    "filter format functions insert intersection lastCell lastColumn merge names offsetRange pivotTables protection " +
    "reapplyFilters resizedRange rowsAbove rowsBelow sort unmerge visibleView workbook worksheet",
  sites: "contentTypes documentSetVersions operations pages permissions termStore termStores versions"
} as const

/** All of them, in the spelling of the service. */
export const names: ReadonlyArray<string> = Object.values(words).flatMap((text) => text.split(" "))

const lower = new Set(names.map((name) => name.toLowerCase()))

/** Whether the graph itself knows the word. */
export const has = (word: string): boolean => lower.has(word.toLowerCase())
