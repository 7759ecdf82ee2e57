// What the server asks of the platform's collector and compiler, for a process that belongs to it alone: whoever embeds it chooses for himself.
//
// It is done when the server has been ready for a moment, and not before: the platform's own modules come with their code compiled, which is good
// for the flags only that it was compiled with. Those that are loaded after this are compiled anew, which for a start is 40 ms more of processor time.

import { setFlagsFromString } from 'node:v8'

/**
 * How far the heap may grow between two thorough collections. Bytes that are on their way to a client lie outside of the heap, but count
 * towards its limit; and the heap of this server is small. So with what the platform chooses, a few dozen large answers bring about a
 * collection that walks through everything, over and over. Three times what is in use is what it allows a program by itself as long as that
 * is busy.
 */
const growthPercent = 200

/**
 * How much of the functions that it calls the compiler may put into one that is called often. A write passes through hundreds of small
 * functions, more than the usual 920 have room for. With this an update takes about a tenth less, and 20,000 of them from a cold start no more
 * than before; 2400 saves no more, and takes longer to compile.
 */
const mostInlinedBytecode = 1500

/** What speaks HTTP/2 is loaded 100 ms after the port was opened (`net/listen`). */
const soonMs = 300

export const platformFlags: readonly string[] = [
  `--heap-growing-percent=${growthPercent}`,
  `--max-inlined-bytecode-size-cumulative=${mostInlinedBytecode}`,
]

/** To be called when the server is ready. */
export function tunePlatformSoon(): void {
  setTimeout(() => {
    for (const flag of platformFlags) setFlagsFromString(flag)
  }, soonMs).unref()
}
