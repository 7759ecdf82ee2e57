// Reads manifests from files, folders and standard input into objects with their file and line. Unreadable files are reported as findings.

import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { YamlError } from '@cluster-apiserver/api/codec/yaml/yaml-error.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'
import { listManifests, manifestDocuments } from '../../options/files/manifest-files.js'
import type { Finding } from './render-result.js'

export interface Manifest {
  readonly file: string
  /** Text of the YAML document, not of the whole file, so that finding line numbers takes linear time. */
  readonly text: string
  readonly line: number
  /** Path inside a List, such as `items[3]`. */
  readonly within: string
  readonly value: { readonly [name: string]: unknown }
  /** Messages about keys that occur more than once. */
  readonly duplicates: readonly string[]
}

/** Replaces folders by their manifest files, recursively, sorted by name. */
export function filesOf(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    if (path === '-' || !statSync(path).isDirectory()) return [path]
    return listManifests(path)
  })
}

interface ReadManifests {
  readonly manifests: readonly Manifest[]
  readonly findings: readonly Finding[]
}

export function readManifests(file: string, read: (file: string) => string = readTextFile): ReadManifests {
  const fail = (line: number, message: string): Finding => ({
    severity: 'failure',
    file,
    line,
    objectLine: line,
    object: '',
    field: '',
    message,
  })
  try {
    const manifests: Manifest[] = []
    const findings: Finding[] = []
    const fileText = read(file)
    for (const { value, line, text = fileText, duplicates } of manifestDocuments(Buffer.from(fileText))) {
      if (!isRecord(value)) {
        findings.push(fail(line, 'an object is expected'))
        continue
      }
      const { items } = value
      const isList = typeof value['kind'] === 'string' && value['kind'].endsWith('List') && Array.isArray(items)
      if (!isList) manifests.push({ file, text, line, within: '', value, duplicates })
      else
        items.forEach((item: unknown, i) => {
          if (isRecord(item))
            manifests.push({ file, text, line, within: `items[${i}]`, value: item, duplicates: i === 0 ? duplicates : [] })
          else findings.push(fail(line, `items[${i}]: an object is expected`))
        })
    }
    return { manifests, findings }
  } catch (thrown) {
    if (!(thrown instanceof YamlError || thrown instanceof UnreadableFile) && !(thrown instanceof Error && 'code' in thrown)) throw thrown
    return { manifests: [], findings: [fail(lineIn(thrown.message), thrown.message)] }
  }
}

function lineIn(message: string): number {
  const begins = Number(/begins in line (\d+)/.exec(message)?.[1] ?? 1)
  return begins - 1 + Number(/yaml: line (\d+)/.exec(message)?.[1] ?? 1)
}

const maxBytes = 64 << 20

class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile'
}

/** `-` is standard input, the only pipe that is read. */
export function readTextFile(path: string, limitBytes = maxBytes): string {
  if (path === '-') return readBounded(0, limitBytes)
  // O_NONBLOCK: do not wait for the writer of a pipe.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!fstatSync(file).isFile()) throw new UnreadableFile('not a regular file')
    return readBounded(file, limitBytes)
  } finally {
    closeSync(file)
  }
}

function readBounded(file: number, limitBytes: number): string {
  const chunks: Buffer[] = []
  for (let length = 0; ; ) {
    const chunk = Buffer.allocUnsafe(1 << 16)
    const count = readSync(file, chunk)
    if (count === 0) return Buffer.concat(chunks).toString('utf8')
    length += count
    if (length > limitBytes) throw new UnreadableFile(`longer than ${limitBytes} bytes, which is the most that is read`)
    chunks.push(chunk.subarray(0, count))
  }
}
