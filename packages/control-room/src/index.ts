/** Every module under its name. */
export * as Administration from "./Administration.ts"
export * as BlobStore from "./BlobStore.ts"
export * as Mounted from "./Mounted.ts"
export * as NodeServer from "./NodeServer.ts"
export * as Options from "./Options.ts"
export * as Server from "./Server.ts"
