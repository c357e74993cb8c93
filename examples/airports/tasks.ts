/**
 * The tasks of the airports process: a table is split into one work item per state, and each state is summarised.
 */
import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Csv from "effect/encoding/Csv"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** A row of the table. */
const Row = Schema.Struct({
  iata: Schema.String,
  name: Schema.String,
  city: Schema.String,
  state: Schema.String,
  latitude: Schema.Finite,
  longitude: Schema.Finite
})

const Airport = Schema.Struct({
  iata: Schema.String,
  name: Schema.String,
  city: Schema.NullOr(Schema.String),
  latitude: Schema.Finite,
  longitude: Schema.Finite
})
type Airport = typeof Airport.Type

/** All airports of one state, or one airport whose state is missing. */
const StateOfAirports = Schema.Struct({
  state: Schema.NullOr(Schema.String),
  airports: Schema.NonEmptyArray(Airport)
})

/**
 * How the table marks a missing value: 12 of its 3,376 rows have the text `NA` as both city and state. Eight of them lie
 * in the USA (air force bases among them), the others in Thailand, Palau, the Northern Marianas and Micronesia. No cell
 * is empty. `NA` is not the code of a state, and no city of this table has that name.
 */
const present = (value: string): string | null =>
  value === "NA" ? null : value

/** Reads the attached table and creates an output per state, in alphabetical order, and one per row without a state. */
export const splitAirports = Task.make("split-airports", {
  input: Schema.Struct({ file: Schema.String }),
  output: StateOfAirports,
  run: (item) => {
    const file = item.payload.file
    const unreadable = (error: { readonly message: string }) =>
      new Task.BusinessFailure({
        code: "UNREADABLE_TABLE",
        message: `${file}: ${error.message.replace(/\s+/g, " ")}`
      })
    return Stream.unwrap(
      Effect.gen(function* () {
        const states = new Map<string, [Airport, ...Array<Airport>]>()
        const stateless: Array<Airport> = []
        yield* item.readFile(file).pipe(
          Stream.pipeThroughChannel(Csv.decodeSchema(Row)({ headers: true })),
          Stream.runForEach((row) =>
            Effect.sync(() => {
              const { iata, latitude, longitude, name } = row
              const airport = {
                iata,
                name,
                city: present(row.city),
                latitude,
                longitude
              }
              const state = present(row.state)
              const others = state === null ? stateless : states.get(state)
              if (others !== undefined) others.push(airport)
              else if (state !== null) states.set(state, [airport])
            })
          ),
          Effect.catchTag(
            ["FileMissing", "CsvError", "SchemaError"],
            unreadable
          )
        )
        const byState = [...states.keys()].sort().flatMap((state) => {
          const airports = states.get(state)
          return airports === undefined ? [] : [{ state, airports }]
        })
        return Stream.fromIterable([
          ...byState,
          ...stateless.map((airport): typeof StateOfAirports.Type => ({
            state: null,
            airports: [airport]
          }))
        ])
      })
    )
  }
})

/** The summary of a state. */
export const Summary = Schema.Struct({
  state: Schema.String,
  /** The number of airports. */
  airports: Schema.Int,
  northernmost: Schema.Struct({
    iata: Schema.String,
    name: Schema.String,
    latitude: Schema.Finite
  }),
  /** The mean of the coordinates, in degrees; no state of the table lies on both sides of the 180th meridian. */
  centre: Schema.Struct({ latitude: Schema.Finite, longitude: Schema.Finite })
})

/** A row of the attached table. */
const TableRow = Schema.Struct({ ...Airport.fields, city: Schema.String })

const mean = (values: ReadonlyArray<number>): number => {
  const sum = values.reduce((total, value) => total + value, 0)
  return Math.round((sum / values.length) * 10_000) / 10_000
}

/** Summarises the airports of a state and attaches them as `<state>.csv`. An airport without a state is refused. */
export const summariseState = Task.make("summarise-state", {
  input: StateOfAirports,
  output: Summary,
  run: Effect.fnUntraced(function* (item) {
    const { airports, state } = item.payload
    const [first] = airports
    if (state === null) {
      return yield* new Task.BusinessFailure({
        code: "MISSING_STATE",
        message: `the airport ${first.iata} (${first.name}) has no state`
      })
    }
    const { iata, latitude, name } = airports.reduce((north, airport) =>
      airport.latitude > north.latitude ? airport : north
    )
    const table = yield* Stream.fromIterable(airports).pipe(
      Stream.map((airport) => ({ ...airport, city: airport.city ?? "" })),
      Stream.pipeThroughChannel(
        Csv.encodeSchemaString(TableRow)({ headers: true, newline: "\n" })
      ),
      Stream.mkString
    )
    return Task.output(
      {
        state,
        airports: airports.length,
        northernmost: { iata, name, latitude },
        centre: {
          latitude: mean(airports.map((airport) => airport.latitude)),
          longitude: mean(airports.map((airport) => airport.longitude))
        }
      },
      {
        files: [
          { name: `${state}.csv`, bytes: new TextEncoder().encode(table) }
        ]
      }
    )
  })
})

export const tasks = [splitAirports, summariseState]
