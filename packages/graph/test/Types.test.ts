/**
 * Our types beside those that the service publishes: what both have must fit in both directions. The
 * compiler is the test.
 */
import type * as Theirs from "@microsoft/microsoft-graph-types"
import { describe, expectTypeOf, it } from "vitest"
import type * as Drive from "../src/model/Drive.ts"
import type * as List from "../src/model/List.ts"
import type * as MailFolder from "../src/model/MailFolder.ts"
import type * as Message from "../src/model/Message.ts"
import type * as Permission from "../src/model/Permission.ts"
import type * as Site from "../src/model/Site.ts"
import type * as User from "../src/model/User.ts"
import type * as Workbook from "../src/model/Workbook.ts"

/** Arrays that may be changed, all the way down: theirs are. */
type Mutable<T> =
  T extends ReadonlyArray<infer A>
    ? Array<Mutable<A>>
    : T extends object
      ? { -readonly [K in keyof T]: Mutable<T[K]> }
      : T

/** Only what both have, all the way down, and nothing of it required. */
type Common<A, B> =
  NonNullable<A> extends ReadonlyArray<infer X>
    ? NonNullable<B> extends ReadonlyArray<infer Y>
      ? ReadonlyArray<Common<X, Y>> | Extract<A, null>
      : never
    : NonNullable<A> extends object
      ?
          | {
              readonly [K in keyof NonNullable<A> & keyof NonNullable<B>]?: Common<
                Exclude<NonNullable<A>[K], undefined>,
                NonNullable<B>[K]
              >
            }
          | Extract<A, null>
      : A

/** Cells are any JSON in theirs. */
type TableColumn = Omit<typeof Workbook.TableColumn.Encoded, "values">
type Range = Omit<typeof Workbook.WorkbookRange.Encoded, "values" | "formulas" | "numberFormat" | "text" | "valueTypes">

type Shape<A, B> = Mutable<Common<A, B>>

describe("what ours and theirs both have fits in both directions", () => {
  it("a user", () => {
    expectTypeOf<Shape<typeof User.User.Encoded, Theirs.User>>().toExtend<
      Shape<Theirs.User, typeof User.User.Encoded>
    >()
    expectTypeOf<Shape<Theirs.User, typeof User.User.Encoded>>().toExtend<
      Shape<typeof User.User.Encoded, Theirs.User>
    >()
  })
  it("a drive", () => {
    expectTypeOf<Shape<typeof Drive.Drive.Encoded, Theirs.Drive>>().toExtend<
      Shape<Theirs.Drive, typeof Drive.Drive.Encoded>
    >()
    expectTypeOf<Shape<Theirs.Drive, typeof Drive.Drive.Encoded>>().toExtend<
      Shape<typeof Drive.Drive.Encoded, Theirs.Drive>
    >()
  })
  it("an item", () => {
    expectTypeOf<Shape<typeof Drive.DriveItem.Encoded, Theirs.DriveItem>>().toExtend<
      Shape<Theirs.DriveItem, typeof Drive.DriveItem.Encoded>
    >()
    expectTypeOf<Shape<Theirs.DriveItem, typeof Drive.DriveItem.Encoded>>().toExtend<
      Shape<typeof Drive.DriveItem.Encoded, Theirs.DriveItem>
    >()
  })
  it("an upload session, which is of no use without its address", () => {
    expectTypeOf<Shape<typeof Drive.UploadSession.Encoded, Theirs.UploadSession>>().toExtend<
      Shape<Theirs.UploadSession, typeof Drive.UploadSession.Encoded>
    >()
  })
  it("a version", () => {
    expectTypeOf<Shape<typeof Drive.DriveItemVersion.Encoded, Theirs.DriveItemVersion>>().toExtend<
      Shape<Theirs.DriveItemVersion, typeof Drive.DriveItemVersion.Encoded>
    >()
    expectTypeOf<Shape<Theirs.DriveItemVersion, typeof Drive.DriveItemVersion.Encoded>>().toExtend<
      Shape<typeof Drive.DriveItemVersion.Encoded, Theirs.DriveItemVersion>
    >()
  })
  it("a worksheet", () => {
    expectTypeOf<Shape<typeof Workbook.Worksheet.Encoded, Theirs.WorkbookWorksheet>>().toExtend<
      Shape<Theirs.WorkbookWorksheet, typeof Workbook.Worksheet.Encoded>
    >()
    expectTypeOf<Shape<Theirs.WorkbookWorksheet, typeof Workbook.Worksheet.Encoded>>().toExtend<
      Shape<typeof Workbook.Worksheet.Encoded, Theirs.WorkbookWorksheet>
    >()
  })
  it("a table of a workbook", () => {
    expectTypeOf<Shape<typeof Workbook.WorkbookTable.Encoded, Theirs.WorkbookTable>>().toExtend<
      Shape<Theirs.WorkbookTable, typeof Workbook.WorkbookTable.Encoded>
    >()
    expectTypeOf<Shape<Theirs.WorkbookTable, typeof Workbook.WorkbookTable.Encoded>>().toExtend<
      Shape<typeof Workbook.WorkbookTable.Encoded, Theirs.WorkbookTable>
    >()
  })
  it("a column of a table", () => {
    expectTypeOf<Shape<TableColumn, Theirs.WorkbookTableColumn>>().toExtend<
      Shape<Theirs.WorkbookTableColumn, TableColumn>
    >()
    expectTypeOf<Shape<Theirs.WorkbookTableColumn, TableColumn>>().toExtend<
      Shape<TableColumn, Theirs.WorkbookTableColumn>
    >()
  })
  it("a range", () => {
    expectTypeOf<Shape<Range, Theirs.WorkbookRange>>().toExtend<Shape<Theirs.WorkbookRange, Range>>()
    expectTypeOf<Shape<Theirs.WorkbookRange, Range>>().toExtend<Shape<Range, Theirs.WorkbookRange>>()
  })
  it("a permission", () => {
    expectTypeOf<Shape<typeof Permission.Permission.Encoded, Theirs.Permission>>().toExtend<
      Shape<Theirs.Permission, typeof Permission.Permission.Encoded>
    >()
    expectTypeOf<Shape<Theirs.Permission, typeof Permission.Permission.Encoded>>().toExtend<
      Shape<typeof Permission.Permission.Encoded, Theirs.Permission>
    >()
  })
  it("a site", () => {
    expectTypeOf<Shape<typeof Site.Site.Encoded, Theirs.Site>>().toExtend<
      Shape<Theirs.Site, typeof Site.Site.Encoded>
    >()
    expectTypeOf<Shape<Theirs.Site, typeof Site.Site.Encoded>>().toExtend<
      Shape<typeof Site.Site.Encoded, Theirs.Site>
    >()
  })
  it("a list", () => {
    expectTypeOf<Shape<typeof List.SiteList.Encoded, Theirs.List>>().toExtend<
      Shape<Theirs.List, typeof List.SiteList.Encoded>
    >()
    expectTypeOf<Shape<Theirs.List, typeof List.SiteList.Encoded>>().toExtend<
      Shape<typeof List.SiteList.Encoded, Theirs.List>
    >()
  })
  it("a column", () => {
    expectTypeOf<Shape<typeof List.Column.Encoded, Theirs.ColumnDefinition>>().toExtend<
      Shape<Theirs.ColumnDefinition, typeof List.Column.Encoded>
    >()
    expectTypeOf<Shape<Theirs.ColumnDefinition, typeof List.Column.Encoded>>().toExtend<
      Shape<typeof List.Column.Encoded, Theirs.ColumnDefinition>
    >()
  })
  it("an item of a list", () => {
    expectTypeOf<Shape<Omit<typeof List.ListItem.Encoded, "fields">, Theirs.ListItem>>().toExtend<
      Shape<Theirs.ListItem, Omit<typeof List.ListItem.Encoded, "fields">>
    >()
    expectTypeOf<Shape<Theirs.ListItem, Omit<typeof List.ListItem.Encoded, "fields">>>().toExtend<
      Shape<Omit<typeof List.ListItem.Encoded, "fields">, Theirs.ListItem>
    >()
  })
  it("a message, whose words are texts here", () => {
    expectTypeOf<Shape<Theirs.Message, typeof Message.Message.Encoded>>().toExtend<
      Shape<typeof Message.Message.Encoded, Theirs.Message>
    >()
  })
  it("an attachment", () => {
    expectTypeOf<Shape<typeof Message.Attachment.Encoded, Theirs.FileAttachment>>().toExtend<
      Shape<Theirs.FileAttachment, typeof Message.Attachment.Encoded>
    >()
    expectTypeOf<Shape<Theirs.FileAttachment, typeof Message.Attachment.Encoded>>().toExtend<
      Shape<typeof Message.Attachment.Encoded, Theirs.FileAttachment>
    >()
  })
  it("a folder of a mailbox", () => {
    expectTypeOf<Shape<typeof MailFolder.MailFolder.Encoded, Theirs.MailFolder>>().toExtend<
      Shape<Theirs.MailFolder, typeof MailFolder.MailFolder.Encoded>
    >()
    expectTypeOf<Shape<Theirs.MailFolder, typeof MailFolder.MailFolder.Encoded>>().toExtend<
      Shape<typeof MailFolder.MailFolder.Encoded, Theirs.MailFolder>
    >()
  })
  it("and a wrong type would not", () => {
    expectTypeOf<Shape<{ name: number }, Theirs.Drive>>().not.toExtend<Shape<Theirs.Drive, { name: number }>>()
  })
})
