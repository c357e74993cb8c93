import { lostAnswersSuite } from "../support/drills/LostAnswersSuite.ts"
import { postgres } from "../support/drills/Stores.ts"

lostAnswersSuite("on Postgres", postgres)
