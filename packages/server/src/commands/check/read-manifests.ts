// Files, folders and the standard input to the objects in them, each with its place; what cannot be read is a finding like any other.

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Json } from '../../api/object.js'
import { sortTexts } from '../../base/text-order.js'
import { parseJson } from '../../codec/json.js'
import { readDocuments } from '../../codec/yaml/read-documents.js'
import { YamlError } from '../../codec/yaml/yaml-error.js'
import { JsonSyntaxError } from '../../schema/json-parse.js'
import { isRecord } from '../../schema/read.js'
import type { Finding } from './findings.js'
import { readWhole, UnreadableFile } from './read-whole.js'

/** One object, or an item of a list. */
export interface Manifest {
  readonly file: string
  /** The document that it is of, for whoever looks for the line of a field; not the whole file, so that the work stays linear. */
  readonly text: string
  /** Where the document begins, counted from 1. */
  readonly line: number
  /** The place of an item in its list, such as `items[3]`; empty for a document of its own. */
  readonly within: string
  readonly value: { readonly [name: string]: unknown }
  /** Keys that stand more than once. */
  readonly duplicates: readonly string[]
}

const endings = /\.(?:ya?ml|json)$/

/** Of a folder, what is in it and in folders in it, in the order of the names. Throws where a path cannot be read. */
export function filesOf(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    if (path === '-' || !statSync(path).isDirectory()) return [path]
    const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => endings.test(name))
    return sortTexts(names.map((name) => join(path, name)).filter((file) => statSync(file).isFile()))
  })
}

export interface ReadManifests {
  readonly manifests: readonly Manifest[]
  readonly findings: readonly Finding[]
}

export function readManifests(file: string, read: (file: string) => string = readWhole): ReadManifests {
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
    for (const { value, line, text, duplicates } of documentsOf(read(file))) {
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
    if (
      !(thrown instanceof YamlError || thrown instanceof JsonSyntaxError || thrown instanceof UnreadableFile) &&
      !(thrown instanceof Error && 'code' in thrown)
    )
      throw thrown
    return { manifests: [], findings: [fail(lineIn(thrown.message), thrown.message)] }
  }
}

interface Document {
  readonly value: Json
  readonly line: number
  readonly text: string
  readonly duplicates: readonly string[]
}

/** JSON is YAML as well, and read three times as fast as what it is. */
function documentsOf(text: string): readonly Document[] {
  if (!/^\s*\{/.test(text)) return readDocuments(text)
  try {
    const { value, careful } = parseJson(new TextEncoder().encode(text))
    if (careful === undefined) return [{ value: value as Json, line: 1, text, duplicates: [] }]
  } catch (thrown) {
    if (!(thrown instanceof JsonSyntaxError)) throw thrown
  }
  return readDocuments(text)
}

/** Errors of YAML name lines of their document. */
function lineIn(message: string): number {
  const begins = Number(/begins in line (\d+)/.exec(message)?.[1] ?? 1)
  return begins - 1 + Number(/yaml: line (\d+)/.exec(message)?.[1] ?? 1)
}
