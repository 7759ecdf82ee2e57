// A file, or the standard input, as text: nothing that never ends, and no more than fits.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** What no set of manifests comes near. */
export const mostBytes = 64 << 20

/** Its message is a sentence for people. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile'
}

/** `-` is the standard input, the only pipe that is read. */
export function readWhole(path: string, most = mostBytes): string {
  if (path === '-') return readBounded(0, most)
  // A pipe that nobody writes to is opened without waiting for a writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!fstatSync(file).isFile()) throw new UnreadableFile('not a regular file')
    return readBounded(file, most)
  } finally {
    closeSync(file)
  }
}

function readBounded(file: number, most: number): string {
  const chunks: Buffer[] = []
  for (let length = 0; ; ) {
    const chunk = Buffer.allocUnsafe(1 << 16)
    const count = readSync(file, chunk)
    if (count === 0) return Buffer.concat(chunks).toString('utf8')
    length += count
    if (length > most) throw new UnreadableFile(`longer than ${most} bytes, which is the most that is read`)
    chunks.push(chunk.subarray(0, count))
  }
}
