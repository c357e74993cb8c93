export { rooms } from "./room.ts"
