/** The documentation of the package: each row of its rules is true. */
import { assert, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Definition } from "@signalbox/schedule/Definition"
import { occurrences } from "@signalbox/schedule/Occurrences"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { short, utc } from "./support/Definitions.ts"

const packageFolder = fileURLToPath(new URL("..", import.meta.url))
const readme = join(packageFolder, "README.md")

const rows = /^\| ([^|]+?) +\| `({.+})` +\| (\S+) +\| (\S+) +\| ([^|]+?) +\|$/gm

const parse = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

it.effect("the rules are as the table says", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const table = [...(yield* fs.readFileString(readme)).matchAll(rows)]
    assert.isAtLeast(table.length, 12)
    for (const [, rule, json, from = "", before = "", times = ""] of table) {
      const definition = yield* Schema.decodeUnknownEffect(Definition)({ name: "s", ...(yield* parse(json)) })
      const found = occurrences(definition, utc(from), utc(before), 100)
      assert.deepStrictEqual(found.map((one) => `${short(one)}Z`).join(" "), times, rule)
    }
  }).pipe(Effect.provide(NodeServices.layer))
)
