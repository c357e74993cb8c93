/** Every module under its name. `PostgresClient`, which needs the driver, stands apart. */
export * as DatabaseClock from "./DatabaseClock.ts"
export * as Dialect from "./Dialect.ts"
export * as Listening from "./Listening.ts"
export * as Migrations from "./Migrations.ts"
export * as QueryDeadline from "./QueryDeadline.ts"
export * as SqliteClient from "./SqliteClient.ts"
export * as StorageFailure from "./StorageFailure.ts"
