// Extracts files of an archive below a destination. Refuses names and symlinks that lead out of it.

import { closeSync, copyFileSync, lstatSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { type TarEntry, TarError } from './tar-header.js'
import { type EntryWriter, TarReader } from './tar-reader.js'

interface Extraction {
  /** Path that the archive was made of: all names start with it. Without leading and trailing slashes. */
  readonly prefix: string
  /** File or folder that the prefix becomes. */
  readonly destination: string
  warn(text: string): void
}

/** Creates no symlinks: the target of a symlink of the pod has no meaning here, or is an attack. */
export function extractTo({ prefix, destination, warn }: Extraction): TarReader {
  return new TarReader((entry) => {
    const target = targetOf(entry.name)
    if (target === undefined) return undefined
    if (entry.type === 'symlink') warn(`skipping symlink: ${quoted(target)} -> ${quoted(entry.linkName)}`)
    if (entry.type === 'other') warn(`skipping ${quoted(target)}: neither a file nor a folder`)
    if (entry.type === 'symlink' || entry.type === 'other') return undefined
    if (entry.type === 'directory') {
      if (makeFolder(target)) return undefined
      warn(`skipping folder ${quoted(target)}: a symlink or file is in its path`)
      return undefined
    }
    if (target !== destination && !isFreeForFile(target)) {
      warn(`skipping file ${quoted(target)}: a symlink or special file is in its path`)
      return undefined
    }
    if (target === destination) mkdirSync(dirname(target), { recursive: true })
    return entry.type === 'hardlink' ? copyLinked(entry, target) : fileWriter(target)
  })

  /** Returns undefined for a name outside of the destination. */
  function targetOf(name: string): string | undefined {
    const path = name.replace(/^(?:\.\/+)+/, '')
    if (prefix !== '' && path !== prefix && !path.startsWith(`${prefix}/`)) throw new TarError('tar contents corrupted')
    const target = join(destination, path.slice(prefix.length))
    const inner = relative(destination, target)
    if (inner !== '..' && !inner.startsWith(`..${sep}`) && !isAbsolute(inner)) return inner === '' ? destination : target
    warn(`file ${quoted(target)} is outside target destination, skipping`)
    return undefined
  }

  /** Creates a folder and its missing parents below the destination. Returns false if another kind of file is in the path. */
  function makeFolder(folder: string): boolean {
    mkdirSync(destination, { recursive: true })
    let current = destination
    for (const part of relative(destination, folder).split(sep).filter(Boolean)) {
      current = join(current, part)
      const stats = lstatSync(current, { throwIfNoEntry: false })
      if (stats === undefined) mkdirSync(current, 0o755)
      else if (!stats.isDirectory()) return false
    }
    return true
  }

  function isFreeForFile(target: string): boolean {
    if (!makeFolder(dirname(target))) return false
    return lstatSync(target, { throwIfNoEntry: false })?.isFile() ?? true
  }

  /** A hard link becomes a copy of the file that was extracted before. */
  function copyLinked({ linkName }: TarEntry, target: string): undefined {
    const source = targetOf(linkName)
    if (source === undefined || lstatSync(source, { throwIfNoEntry: false })?.isFile() !== true || !hasRealParents(source))
      warn(`skipping hard link: ${quoted(target)} -> ${quoted(linkName)}`)
    else if (source !== target) copyFileSync(source, target)
    return undefined
  }

  function hasRealParents(path: string): boolean {
    let current = destination
    for (const part of relative(destination, dirname(path))
      .split(sep)
      .filter((name) => name !== '' && name !== '..')) {
      current = join(current, part)
      if (lstatSync(current, { throwIfNoEntry: false })?.isDirectory() !== true) return false
    }
    return true
  }
}

function fileWriter(path: string): EntryWriter {
  const file = openSync(path, 'w', 0o666)
  return {
    write: (data) => {
      for (let written = 0; written < data.length; ) written += writeSync(file, data, written)
    },
    end: () => closeSync(file),
  }
}

const quoted = (path: string): string => JSON.stringify(path)

/** Prefix of the names in an archive of `tar cf - path`: without leading `/`, `./` and `../`. */
export function archivePrefix(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  while (parts[0] === '..') parts.shift()
  return parts.join('/')
}

/** Name of a local file in another folder; empty for the current folder, whose contents are then copied. */
export const nameOfLocal = (path: string, resolved: string): string => (join(path, '.') === '.' ? '' : basename(resolved))
