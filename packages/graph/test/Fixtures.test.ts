/**
 * Answers of the service, with invented values: each decodes, and keeps what is in it.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Redacted from "effect/Redacted"
import { Drive, DriveItem, JobStatus, UploadSession, UploadStatus } from "../src/model/Drive.ts"
import { Column, columnType, ListItem, SiteList } from "../src/model/List.ts"
import { MailFolder } from "../src/model/MailFolder.ts"
import { Attachment, Message } from "../src/model/Message.ts"
import { Permission } from "../src/model/Permission.ts"
import { Site } from "../src/model/Site.ts"
import { User } from "../src/model/User.ts"
import { fixtures } from "./support/Fixtures.ts"

const decode = <S extends Schema.Codec<unknown, unknown>>(schema: S, text: string) =>
  Schema.decodeUnknownEffect(schema)(JSON.parse(text))

describe("decodes", () => {
  const table: ReadonlyArray<readonly [keyof typeof fixtures, Schema.Codec<unknown, unknown>]> = [
    ["me", User],
    ["userHit", User],
    ["businessDrive", Drive],
    ["personalDrive", Drive],
    ["root", DriveItem],
    ["file", DriveItem],
    ["folder", DriveItem],
    ["remoteHit", DriveItem],
    ["oneNote", DriveItem],
    ["malware", DriveItem],
    ["deleted", DriveItem],
    ["deletedInDelta", DriveItem],
    ["site", Site],
    ["list", SiteList],
    ["titleColumn", Column],
    ["numberColumn", Column],
    ["listItem", ListItem],
    ["uploadSession", UploadSession],
    ["uploadAccepted", UploadStatus],
    ["uploadStatus", UploadStatus],
    ["jobInProgress", JobStatus],
    ["jobDone", JobStatus],
    ["message", Message],
    ["removedMessage", Message],
    ["fileAttachment", Attachment],
    ["itemAttachment", Attachment],
    ["mailFolder", MailFolder],
    ["permission", Permission],
    ["groupMember", User],
    ["selectedUser", User],
    ["libraryDrive", Drive],
    ["personalFolder", DriveItem],
    ["photo", DriveItem],
    ["video", DriveItem],
    ["checkedOut", DriveItem],
    ["sharedFolder", DriveItem],
    ["subsite", Site],
    ["libraryList", SiteList],
    ["choiceColumn", Column],
    ["lookupColumn", Column],
    ["personColumn", Column],
    ["calculatedColumn", Column],
    ["documentItem", ListItem],
    ["deletedItemInDelta", ListItem],
    ["invitedGuest", Permission],
    ["inheritedPermission", Permission],
    ["anonymousLink", Permission]
  ]
  it.effect.each(table)("%s", ([name, schema]) =>
    Effect.gen(function* () {
      const decoded = yield* decode(schema, fixtures[name])
      // What was decoded is encoded to a part of what came: nothing is bent.
      const again = JSON.parse(JSON.stringify(yield* Schema.encodeUnknownEffect(schema)(decoded)))
      const original = JSON.parse(fixtures[name])
      assert.isNotEmpty(Object.keys(again))
      for (const key of Object.keys(again)) assert.isDefined(original[key], key)
      assert.strictEqual(again.id, original.id)
    })
  )
  it("and every fixture is in the table", () => {
    assert.sameMembers(
      table.map(([name]) => name),
      Object.keys(fixtures)
    )
  })
})

it.effect("addresses that are secrets do not print", () =>
  Effect.gen(function* () {
    const item = yield* Schema.decodeUnknownEffect(DriveItem)(JSON.parse(fixtures.file))
    assert.notInclude(`${JSON.stringify(item)}`, "tempauth")
    const url = item["@microsoft.graph.downloadUrl"]
    assert.strictEqual(url === undefined ? "" : Redacted.value(url), "https://dl.example/d/1?tempauth=x")
    const session = yield* Schema.decodeUnknownEffect(UploadSession)(JSON.parse(fixtures.uploadSession))
    assert.notInclude(`${JSON.stringify(session)}`, "tempauth")
  })
)

it.effect("times stay in UTC, as they came (B18)", () =>
  Effect.gen(function* () {
    const item = yield* Schema.decodeUnknownEffect(DriveItem)(JSON.parse(fixtures.file))
    assert.strictEqual(item.lastModifiedDateTime, "2024-01-02T00:00:00Z")
  })
)

it.effect("a column says of which type it is", () =>
  Effect.gen(function* () {
    assert.strictEqual(
      columnType(yield* Schema.decodeUnknownEffect(Column)(JSON.parse(fixtures.numberColumn))),
      "number"
    )
    assert.isNull(columnType({ id: "c" }))
  })
)
