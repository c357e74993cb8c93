/** Every module under its name. `Promises` stands apart. */
export * as Assistant from "./Assistant.ts"
export * as Environments from "./Environments.ts"
export * as Home from "./Home.ts"
export * as Program from "./Program.ts"
export * as Robot from "./Robot.ts"
export * as RobotError from "./RobotError.ts"
export * as Task from "./Task.ts"
export * as Worker from "./Worker.ts"
