// Manifest files: lists the files of a folder, and reads their documents.

import { readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import { parseJson } from '@cluster-apiserver/api/codec/json/json.js'
import { readDocuments } from '@cluster-apiserver/api/codec/yaml/read-documents.js'
import { JsonSyntaxError } from '@cluster-apiserver/api/schema/json/parse-json.js'

const manifestName = /\.(?:ya?ml|json)$/

/** Paths below the folder, in order. Links are followed, but no folder is read twice. */
export function listManifests(folder: string): readonly string[] {
  const files: string[] = []
  const pending = [folder]
  const seen = new Set<string>()
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const real = realpathSync(next)
    if (seen.has(real)) continue
    seen.add(real)
    for (const entry of readdirSync(next, { withFileTypes: true })) {
      const path = join(next, entry.name)
      const isMatch = manifestName.test(entry.name)
      if (entry.isDirectory()) pending.push(path)
      else if (entry.isFile() && isMatch) files.push(path)
      else if (entry.isSymbolicLink()) addTarget(path, isMatch)
    }
  }
  return sortTexts(files)

  function addTarget(link: string, isMatch: boolean): void {
    const target = statSync(link, { throwIfNoEntry: false })
    if (target?.isDirectory()) pending.push(link)
    // A link of that name to nothing is an error: reading it says so.
    else if (isMatch && (target === undefined || target.isFile())) files.push(link)
  }
}

interface ManifestDocument {
  readonly value: unknown
  readonly line: number
  /** Undefined if the document is the whole file. */
  readonly text?: string
  /** Messages about keys that occur more than once. */
  readonly duplicates: readonly string[]
}

/** JSON is YAML as well, but its own parser is three times as fast. YAML also reads several JSON documents between `---`. */
export function manifestDocuments(bytes: Buffer): readonly ManifestDocument[] {
  if (/^\s*\{/.test(bytes.toString('utf8', 0, 1024))) {
    try {
      const { value, careful } = parseJson(bytes)
      if (careful === undefined) return [{ value, line: 1, duplicates: [] }]
    } catch (thrown) {
      if (!(thrown instanceof JsonSyntaxError)) throw thrown
    }
  }
  return readDocuments(bytes.toString('utf8'))
}
