// Writes files, folders and symlinks of this machine as a tar archive.

import { closeSync, lstatSync, openSync, readdirSync, readlinkSync, readSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import { blockBytes, type EntryType, paddingOf, TarError, writeHeader } from './tar-header.js'

const chunkBytes = 64 * 1024

/** Yields the archive of `path` with `name` as the name of its root. Symlinks below it are stored as symlinks. */
export function* tarOf(path: string, name: string): Generator<Buffer, void, undefined> {
  yield* entriesOf(path, name, statSync(path))
  yield Buffer.alloc(2 * blockBytes)
}

function* entriesOf(path: string, name: string, stats: Stats): Generator<Buffer, void, undefined> {
  const header = (type: EntryType, size = 0, linkName = ''): Buffer =>
    writeHeader({
      name: type === 'directory' ? `${name}/` : name,
      type,
      size,
      linkName,
      mode: stats.mode,
      uid: stats.uid,
      gid: stats.gid,
      mtimeSeconds: Math.trunc(stats.mtimeMs / 1000),
    })
  if (stats.isDirectory()) {
    const children = sortTexts(readdirSync(path))
    // Only empty folders have an entry, so that modes of existing folders do not change.
    if (children.length === 0) yield header('directory')
    for (const child of children) {
      const childPath = join(path, child)
      yield* entriesOf(childPath, `${name}/${child}`, lstatSync(childPath))
    }
  } else if (stats.isSymbolicLink()) yield header('symlink', 0, readlinkSync(path))
  else if (stats.isFile()) {
    yield header('file', stats.size)
    yield* contentsOf(path, stats.size)
    yield Buffer.alloc(paddingOf(stats.size))
  } else throw new TarError(`${path} is neither a file nor a folder nor a symlink`)
}

function* contentsOf(path: string, size: number): Generator<Buffer, void, undefined> {
  const file = openSync(path, 'r')
  try {
    for (let position = 0; position < size; ) {
      const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, size - position))
      const count = readSync(file, chunk, 0, chunk.length, position)
      // The header already states the size.
      if (count === 0) throw new TarError(`${path} became shorter while it was read`)
      yield chunk.subarray(0, count)
      position += count
    }
  } finally {
    closeSync(file)
  }
}
