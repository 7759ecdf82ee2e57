// A note beside a data file that says what it was like when its server closed it in good order. A file that is so still has not been touched
// since, and need not be looked through page by page: a start does not take longer the more is stored.

import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'

export const closedNotePath = (path: string): string => `${path}.closed`

/** To be called when the file has been closed. */
export function noteClosed(path: string): void {
  try {
    writeFileSync(closedNotePath(path), stateOf(path), { mode: 0o600 })
  } catch {
    // A full disk, say: without a note the next start looks through the file, which is all that the note saves.
    rmSync(closedNotePath(path), { force: true })
  }
}

export function isAsClosed(path: string): boolean {
  try {
    return readFileSync(closedNotePath(path), 'utf8') === stateOf(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** Whoever writes, copies, moves or restores a file changes one of these. */
function stateOf(path: string): string {
  const { size, ino, ctimeNs, mtimeNs } = statSync(path, { bigint: true })
  return `${size} ${ino} ${ctimeNs} ${mtimeNs}\n`
}
