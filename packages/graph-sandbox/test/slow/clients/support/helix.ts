/**
 * helix-onedrive-support, with the types that its own declarations lose where modules are resolved as Node does it.
 */
import { OneDrive, OneDriveAuth } from "@adobe/helix-onedrive-support"

export interface DriveItem {
  readonly id: string
  readonly name: string
  readonly size?: number
  readonly deleted?: { readonly state: string }
  readonly parentReference: { readonly driveId: string; readonly id?: string }
}

interface Table {
  getHeaderNames(): Promise<ReadonlyArray<string>>
  getRowsAsObjects(): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>
  getRow(index: number): Promise<ReadonlyArray<unknown>>
  addRows(rows: ReadonlyArray<ReadonlyArray<unknown>>): Promise<number>
  replaceRow(index: number, row: ReadonlyArray<unknown>): Promise<unknown>
  deleteRow(index: number): Promise<unknown>
  getRowCount(): Promise<number>
  getColumn(name: string): Promise<ReadonlyArray<ReadonlyArray<unknown>>>
}

interface Range {
  getAddress(): Promise<string>
  getValues(): Promise<ReadonlyArray<ReadonlyArray<unknown>>>
  update(range: { readonly values: ReadonlyArray<ReadonlyArray<unknown>> }): Promise<unknown>
}

export interface Workbook {
  createSession(persistChanges?: boolean): Promise<string>
  refreshSession(): Promise<void>
  closeSession(): Promise<void>
  getWorksheetNames(): Promise<ReadonlyArray<string>>
  createWorksheet(name: string): Promise<unknown>
  deleteWorksheet(name: string): Promise<void>
  worksheet(name: string): {
    usedRange(): Range
    range(address: string): Range
    addTable(address: string, hasHeaders: boolean, name?: string): Promise<Table>
  }
  getTableNames(): Promise<ReadonlyArray<string>>
}

type Fetch = (url: string, options?: unknown) => Promise<unknown>

declare module "@adobe/helix-onedrive-support" {
  export class OneDriveAuth {
    constructor(options: { readonly accessToken: string; readonly log: unknown })
    authenticate(): Promise<unknown>
  }
  export class OneDrive {
    constructor(options: { readonly auth: OneDriveAuth; readonly noShareLinkCache: boolean })
    fetchContext: { readonly fetch: Fetch }
    dispose(): Promise<void>
    me(): Promise<{ readonly displayName: string }>
    getDriveRootItem(driveId: string): Promise<DriveItem>
    getDriveItem(folder: DriveItem, path?: string): Promise<DriveItem>
    getParentDriveItem(item: DriveItem): Promise<DriveItem>
    fuzzyGetDriveItem(folder: DriveItem, path: string): Promise<ReadonlyArray<DriveItem>>
    listChildren(folder: DriveItem, path?: string): Promise<{ readonly value: ReadonlyArray<DriveItem> }>
    downloadDriveItem(item: DriveItem): Promise<Buffer>
    uploadDriveItem(contents: Buffer, folder: DriveItem, path?: string, conflict?: string): Promise<DriveItem>
    getDriveItemFromShareLink(url: string): Promise<DriveItem>
    getWorkbook(item: DriveItem): Workbook
    listSubscriptions(): Promise<{ readonly value: ReadonlyArray<unknown> }>
    fetchChanges(
      resource: string,
      token?: string
    ): Promise<{ readonly changes: ReadonlyArray<DriveItem>; readonly token: string }>
  }
}

const silent = Object.fromEntries(["debug", "info", "warn", "error"].map((level) => [level, () => {}]))

/** The client for this address; it has that of the service in its code. */
export const oneDriveAt = (graphUrl: string, accessToken: string): OneDrive => {
  const drive = new OneDrive({ auth: new OneDriveAuth({ accessToken, log: silent }), noShareLinkCache: true })
  const { fetch } = drive.fetchContext
  drive.fetchContext = {
    ...drive.fetchContext,
    fetch: (url, options) => fetch(url.replace("https://graph.microsoft.com/v1.0", graphUrl), options)
  }
  return drive
}
