import { lostAnswersSuite } from "../support/drills/LostAnswersSuite.ts"
import { sqlite } from "../support/drills/Stores.ts"

lostAnswersSuite("in memory", "memory")
lostAnswersSuite("on SQLite", sqlite)
