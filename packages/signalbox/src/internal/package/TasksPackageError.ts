import { TaggedError } from "@signalbox/transport/Printed"
import * as Schema from "effect/Schema"

/** The tasks file cannot become a task package. The message names what is in the way, and the remedy. */
export class TasksPackageError extends TaggedError<TasksPackageError>()("TasksPackageError", {
  message: Schema.String
}) {}
