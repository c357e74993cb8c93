/**
 * Lists of a site, their columns and their items.
 */
import * as Schema from "effect/Schema"
import { base, ListId, ListItemId, maybe, SharepointIds } from "./Common.ts"

const text = maybe(Schema.String)
const number = maybe(Schema.Finite)
const flag = maybe(Schema.Boolean)
const empty = Schema.Struct({})

export const SiteList = Schema.Struct({
  ...base,
  id: ListId,
  displayName: text,
  list: maybe(Schema.Struct({ template: text, hidden: flag, contentTypesEnabled: flag })),
  sharepointIds: maybe(SharepointIds),
  /** Present on lists that the service keeps for itself. */
  system: maybe(empty)
})
export interface SiteList extends Schema.Schema.Type<typeof SiteList> {}

const TextColumn = Schema.Struct({
  allowMultipleLines: flag,
  appendChangesToExistingText: flag,
  linesForEditing: number,
  maxLength: number,
  textType: text
})

const NumberColumn = Schema.Struct({ decimalPlaces: text, displayAs: text, maximum: number, minimum: number })

const ChoiceColumn = Schema.Struct({
  allowTextEntry: flag,
  choices: maybe(Schema.Array(Schema.String)),
  displayAs: text
})

/** The facets that say of which type a column is; a column has at most one. */
const columnTypes = {
  text: maybe(TextColumn),
  number: maybe(NumberColumn),
  choice: maybe(ChoiceColumn),
  boolean: maybe(empty),
  dateTime: maybe(Schema.Struct({ displayAs: text, format: text })),
  currency: maybe(Schema.Struct({ locale: text })),
  lookup: maybe(
    Schema.Struct({ allowMultipleValues: flag, columnName: text, listId: text, primaryLookupColumnId: text })
  ),
  personOrGroup: maybe(Schema.Struct({ allowMultipleSelection: flag, chooseFromType: text, displayAs: text })),
  calculated: maybe(Schema.Struct({ format: text, formula: text, outputType: text })),
  hyperlinkOrPicture: maybe(Schema.Struct({ isPicture: flag })),
  term: maybe(Schema.Struct({ allowMultipleValues: flag })),
  thumbnail: maybe(empty),
  geolocation: maybe(empty)
}

export const Column = Schema.Struct({
  ...columnTypes,
  id: Schema.String,
  /** The internal name: what the fields of an item and filters use. */
  name: text,
  displayName: text,
  description: text,
  columnGroup: text,
  enforceUniqueValues: flag,
  hidden: flag,
  indexed: flag,
  readOnly: flag,
  required: flag,
  isDeletable: flag,
  isSealed: flag,
  defaultValue: maybe(Schema.Struct({ formula: text, value: text }))
})
export interface Column extends Schema.Schema.Type<typeof Column> {}

export type ColumnType = keyof typeof columnTypes

/** The type of a column, null when it is of none of these. */
export const columnType = (column: Column): ColumnType | null =>
  typeNames.find((name) => column[name] !== undefined && column[name] !== null) ?? null

const typeNames: ReadonlyArray<ColumnType> = [
  "text",
  "number",
  "choice",
  "boolean",
  "dateTime",
  "currency",
  "lookup",
  "personOrGroup",
  "calculated",
  "hyperlinkOrPicture",
  "term",
  "thumbnail",
  "geolocation"
]

/** The values of an item by internal names of columns. A column without a value is absent. */
export const Fields = Schema.Record(Schema.String, Schema.Json)
export type Fields = typeof Fields.Type

export const ListItem = Schema.Struct({
  ...base,
  id: ListItemId,
  contentType: maybe(Schema.Struct({ id: text, name: text })),
  fields: maybe(Fields),
  sharepointIds: maybe(SharepointIds)
})
export interface ListItem extends Schema.Schema.Type<typeof ListItem> {}
