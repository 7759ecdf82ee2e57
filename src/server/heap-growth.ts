// How far the heap of the process may grow between two thorough collections.
//
// Bytes that are on their way to a client lie outside of the heap, but count towards its limit; and the heap of this server is small. So with
// what the platform chooses, a few dozen large answers bring about a collection that walks through everything, over and over. Three times
// what is in use is what it allows a program by itself as long as that is busy.

import { setFlagsFromString } from 'node:v8'

const growthPercent = 200

/** For a process that belongs to the server alone: whoever embeds it chooses for himself. */
export const letHeapGrow = (): void => setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
