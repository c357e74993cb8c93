/**
 * Lists of a site: their columns and items.
 */
import * as Result from "effect/Result"
import * as ChangeLog from "./ChangeLog.ts"
import * as Failure from "../model/Failure.ts"
import * as Ids from "../model/Ids.ts"
import type { Changes, Column, Drive, Item, List, ListItem, Site } from "../model/Model.ts"
import * as Tree from "./Tree.ts"

type Change = Tree.Change

/** What a list says it is whose items are files. */
export const libraryTemplate = "documentLibrary"

/** What makes a column what it is. */
const kinds = [
  "text",
  "number",
  "choice",
  "boolean",
  "dateTime",
  "currency",
  "lookup",
  "personOrGroup",
  "calculated",
  "hyperlinkOrPicture"
] as const

/** As the service writes a name that has something else than letters and digits. */
const internalName = (name: string) =>
  name.replace(/[^A-Za-z0-9_]/g, (char) => `_x${char.charCodeAt(0).toString(16).padStart(4, "0")}_`)

const column = (
  siteId: string,
  list: string,
  given: Readonly<Record<string, unknown>> & { readonly name: string }
): Column => ({
  columnGroup: "Custom Columns",
  description: "",
  enforceUniqueValues: false,
  hidden: false,
  ...(kinds.some((kind) => kind in given) ? given : { text: {}, ...given }),
  id: Ids.uuid(`column ${siteId} ${list} ${given.name}`),
  name: internalName(given.name),
  displayName: typeof given["displayName"] === "string" ? given["displayName"] : given.name,
  indexed: given["indexed"] === true,
  readOnly: given["readOnly"] === true,
  required: given["required"] === true
})

const builtIn = [
  {
    name: "Title",
    required: true,
    text: { allowMultipleLines: false, appendChangesToExistingText: false, linesForEditing: 0, maxLength: 255 }
  },
  { name: "ID", readOnly: true, indexed: true, number: {} },
  { name: "Created", readOnly: true, dateTime: { displayAs: "default", format: "dateTime" } },
  { name: "Modified", readOnly: true, dateTime: { displayAs: "default", format: "dateTime" } },
  { name: "Author", displayName: "Created By", readOnly: true, personOrGroup: {} },
  { name: "Editor", displayName: "Modified By", readOnly: true, personOrGroup: {} }
] as const

const ofLibraries = [
  ...builtIn.map((column) => ({ ...column, required: false })),
  { name: "FileLeafRef", displayName: "Name", readOnly: true, text: {} }
]

export interface NewList {
  readonly displayName: string
  readonly description?: string
  readonly template?: string
  readonly columns?: ReadonlyArray<Readonly<Record<string, unknown>> & { readonly name: string }>
}

/** By id, or by the name that is shown. */
export const find = (site: Site, key: string): List | undefined =>
  site.lists.get(key) ??
  [...site.lists.values()].find(
    ({ displayName, name }) =>
      displayName.toLowerCase() === key.toLowerCase() || name.toLowerCase() === key.toLowerCase()
  )

export const make = (
  site: Site,
  given: NewList & { readonly library?: Drive },
  { at, by }: Change
): Result.Result<List, Failure.Failure> => {
  const { columns = [], displayName, library = null } = given
  if (find(site, displayName) !== undefined) {
    return Result.fail(Failure.nameAlreadyExists("The specified list name already exists."))
  }
  const always = library === null ? builtIn : ofLibraries
  const all = [...columns, ...always.filter(({ name }) => !columns.some((column) => column.name === name))]
  const names = all.map(({ name }) => name.toLowerCase())
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) return Result.fail(Failure.invalidRequest(`The column '${twice}' is there twice.`))
  const list: List = {
    id: Ids.uuid(library === null ? `list ${site.id} ${displayName} ${at} ${site.lists.size}` : `list ${library.id}`),
    siteId: site.id,
    name: displayName,
    displayName,
    description: given.description ?? "",
    template: given.template ?? "genericList",
    version: 0,
    createdAt: at,
    modifiedAt: at,
    createdBy: by,
    columns: all.map((given) => column(site.id, displayName, given)),
    library,
    items: new Map(),
    changes: ChangeLog.make(),
    nextItem: 1
  }
  site.lists.set(list.id, list)
  return Result.succeed(list)
}

export const addColumn = (
  list: List,
  given: Readonly<Record<string, unknown>> & { readonly name: string }
): Result.Result<Column, Failure.Failure> => {
  const made = column(list.siteId, list.displayName, given)
  if (list.columns.some(({ name }) => name.toLowerCase() === made.name.toLowerCase())) {
    return Result.fail(Failure.nameAlreadyExists("The specified column name already exists."))
  }
  list.columns.push(made)
  return Result.succeed(made)
}

const columnAt = (list: List, column: Column) => list.columns.findIndex(({ id }) => id === column.id)

const isBuiltIn = ({ name }: Column) => ofLibraries.some((column) => column.name === name)

/** The types of a column's own properties; the rest are settings of its kind. */
const propertyTypes = {
  displayName: "string",
  description: "string",
  enforceUniqueValues: "boolean",
  hidden: "boolean",
  indexed: "boolean",
  readOnly: "boolean",
  required: "boolean"
} as const

/** Changes properties of a column, and settings of its kind; name and kind themselves stay. */
export const updateColumn = (
  list: List,
  column: Column,
  given: Readonly<Record<string, unknown>>
): Result.Result<Column, Failure.Failure> => {
  const fixed =
    ["id", "name"].find((property) => property in given && given[property] !== column[property]) ??
    kinds.find((kind) => kind in given && !(kind in column))
  if (fixed !== undefined) {
    return Result.fail(Failure.invalidRequest(`'${fixed}' of a column cannot be changed.`, "propertyNotUpdateable"))
  }
  const wrong = Object.entries(propertyTypes).find(([name, type]) => name in given && typeof given[name] !== type)
  if (wrong !== undefined) {
    return Result.fail(Failure.invalidRequest(`'${wrong[0]}' must be a ${wrong[1]}.`, "invalidParameterFormat"))
  }
  const updated = { ...column, ...given }
  list.columns[columnAt(list, column)] = updated
  return Result.succeed(updated)
}

/** Removes a column, and what items have in it. */
export const removeColumn = (list: List, column: Column): Result.Result<void, Failure.Failure> => {
  if (isBuiltIn(column)) return Result.fail(Failure.invalidRequest(`The column '${column.name}' cannot be deleted.`))
  list.columns.splice(columnAt(list, column), 1)
  for (const item of [...list.items.values(), ...(list.library?.items.values() ?? [])]) {
    item.fields = Object.fromEntries(Object.entries(item.fields).filter(([field]) => !isFieldOf(column, field)))
  }
  return Result.void
}

const isOfKind = (column: Column, value: unknown): boolean => {
  if (value === null) return true
  if ("number" in column || "currency" in column) return typeof value === "number"
  if ("boolean" in column) return typeof value === "boolean"
  if ("text" in column || "dateTime" in column) return typeof value === "string"
  return true
}

/** A lookup or a person is written as `<name>LookupId`. */
const isFieldOf = ({ name }: Column, field: string) => name === field || `${name}LookupId` === field

const columnOf = (list: List, field: string) => list.columns.find((column) => isFieldOf(column, field))

/** Every field must have a column that can be written, and be of its kind. */
export const checkFields = (
  list: List,
  fields: Readonly<Record<string, unknown>>
): Result.Result<Readonly<Record<string, unknown>>, Failure.Failure> => {
  for (const [name, value] of Object.entries(fields)) {
    if (name.startsWith("@") || name.includes("@odata.type")) continue
    const column = columnOf(list, name)
    if (column === undefined) return Result.fail(Failure.invalidRequest(`Field '${name}' is not recognized`))
    if (column.readOnly) return Result.fail(Failure.invalidRequest(`Field '${name}' is read-only`))
    if (column.name === name && !isOfKind(column, value)) {
      return Result.fail(Failure.invalidRequest(`The value of field '${name}' is not of the column's type`))
    }
  }
  return Result.succeed(Object.fromEntries(Object.entries(fields).filter(([name]) => !name.includes("@"))))
}

export const addItem = (
  list: List,
  fields: Readonly<Record<string, unknown>>,
  { at, by }: Change
): Result.Result<ListItem, Failure.Failure> => {
  if (list.library !== null) {
    return Result.fail(Failure.invalidRequest("To add an item to a document library, upload a file."))
  }
  return Result.map(checkFields(list, fields), (fields) => {
    const item: ListItem = {
      id: String(list.nextItem++),
      file: null,
      fields,
      version: 1,
      createdAt: at,
      createdBy: by,
      modifiedAt: at,
      modifiedBy: by
    }
    list.items.set(item.id, item)
    list.modifiedAt = at
    note(list, item, at)
    return item
  })
}

const note = ({ changes }: List, { id }: ListItem, at: number, gone?: ListItem) =>
  ChangeLog.note(changes, id, { at, listItem: id, gone })

/** A file or folder of a library as an item of its list. */
const ofFile = (file: Item): ListItem => {
  const { createdAt, createdBy, fields, listItem, modifiedAt, modifiedBy, version } = file
  return { id: listItem, file, fields, version, createdAt, createdBy, modifiedAt, modifiedBy }
}

/** The files and folders of a library; its root is none of them. */
const filesOf = (library: Drive) => [...library.items.values()].filter(({ parent }) => parent !== null)

/** Which of a collection a read sees. */
export type Seen = <A extends { readonly id: string }>(changes: Changes<A>, rows: ReadonlyArray<A>) => ReadonlyArray<A>

export const items = ({ changes, items, library }: List, seen: Seen = (_, rows) => rows): ReadonlyArray<ListItem> =>
  library === null ? seen(changes, [...items.values()]) : seen(library.changes, filesOf(library)).map(ofFile)

export const item = ({ items, library }: List, id: string): ListItem | undefined => {
  const file = library === null ? undefined : filesOf(library).find(({ listItem }) => listItem === id)
  return file === undefined ? items.get(id) : ofFile(file)
}

/** The item that a change is about; its key is that of the file in a library. */
export const changedItem = ({ items, library }: List, key: string): ListItem | undefined => {
  const file = library?.items.get(key)
  return file === undefined || file.parent === null ? items.get(key) : ofFile(file)
}

/** Writes some of the fields, and returns the item as it is now. */
export const writeFields = (
  list: List,
  item: ListItem,
  fields: Readonly<Record<string, unknown>>,
  change: Change
): Result.Result<ListItem, Failure.Failure> =>
  Result.map(checkFields(list, fields), (checked) => {
    const { file } = item
    if (file !== null) {
      file.fields = { ...file.fields, ...checked }
      Tree.changed(file, change)
      return ofFile(file)
    }
    item.fields = { ...item.fields, ...checked }
    item.version++
    item.modifiedAt = change.at
    item.modifiedBy = change.by
    note(list, item, change.at)
    return item
  })

/** Removes an item; in a library, the file or folder with all below. */
export const removeItem = (list: List, item: ListItem, change: Change): void => {
  if (item.file !== null) return Tree.remove(item.file, change)
  list.items.delete(item.id)
  note(list, item, change.at, item)
}
