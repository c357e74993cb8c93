import { expect, it } from "vitest"

it("fails", () => expect("what is").toBe("what should be"))
