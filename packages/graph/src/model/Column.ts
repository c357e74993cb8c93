/**
 * Columns of lists.
 */
import * as Schema from "effect/Schema"
import { maybe } from "./Common.ts"

const text = maybe(Schema.String)
const number = maybe(Schema.Finite)
const flag = maybe(Schema.Boolean)
const empty = Schema.Struct({})

class TextColumn extends Schema.Opaque<TextColumn>()(
  Schema.Struct({
    allowMultipleLines: flag,
    appendChangesToExistingText: flag,
    linesForEditing: number,
    maxLength: number,
    textType: text
  })
) {}

class NumberColumn extends Schema.Opaque<NumberColumn>()(
  Schema.Struct({ decimalPlaces: text, displayAs: text, maximum: number, minimum: number })
) {}

class ChoiceColumn extends Schema.Opaque<ChoiceColumn>()(
  Schema.Struct({
    allowTextEntry: flag,
    choices: maybe(Schema.Array(Schema.String)),
    displayAs: text
  })
) {}

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

export class Column extends Schema.Opaque<Column>()(
  Schema.Struct({
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
) {}

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
