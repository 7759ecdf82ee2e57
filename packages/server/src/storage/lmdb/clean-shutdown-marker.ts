// Marker of a clean shutdown: size, inode and times of the data file. If they are unchanged at the next start, leaf pages are not checked.

import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'

export const shutdownMarkerPath = (path: string): string => `${path}.closed`

export function writeShutdownMarker(path: string): void {
  try {
    writeFileSync(shutdownMarkerPath(path), stateOf(path), { mode: 0o600 })
  } catch {
    // For example on a full disk. Without the marker the next start checks leaf pages as well.
    rmSync(shutdownMarkerPath(path), { force: true })
  }
}

export function isUnchangedSinceShutdown(path: string): boolean {
  try {
    return readFileSync(shutdownMarkerPath(path), 'utf8') === stateOf(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** Writing, copying, moving or restoring a file changes one of these. */
function stateOf(path: string): string {
  const { size, ino, ctimeNs, mtimeNs } = statSync(path, { bigint: true })
  return `${size} ${ino} ${ctimeNs} ${mtimeNs}\n`
}
