// Reads manifests (YAML or JSON) from files, folders, URLs and stdin. Lists are replaced by their items.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import { readDocuments } from '@cluster-apiserver/api/codec/yaml/read-documents.js'
import { isRecord } from '@cluster-apiserver/api/patch/json-value.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { CommandError } from '../command-line/errors.js'
import type { Io } from '../command-line/io.js'

interface ManifestSources {
  readonly filename: readonly string[]
  readonly recursive: boolean
}

const origins = new WeakMap<DynamicObject, string>()

export const originOf = (object: DynamicObject): string => origins.get(object) ?? ''

const extensions = /\.(?:ya?ml|json)$/

export async function readManifests({ filename, recursive }: ManifestSources, io: Io): Promise<readonly DynamicObject[]> {
  const objects: DynamicObject[] = []
  for (const source of filename) {
    if (source === '-') objects.push(...parseManifest(await io.readStdin(), 'standard input'))
    else if (/^https?:\/\//.test(source)) objects.push(...parseManifest(await download(source), source))
    else for (const file of filesOf(source, recursive)) objects.push(...parseManifest(readFileSync(file, 'utf8'), file))
  }
  return objects
}

function filesOf(path: string, recursive: boolean): readonly string[] {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw new CommandError(`the path "${path}" does not exist`)
  if (!stat.isDirectory()) return [path]
  const names = readdirSync(path, { recursive, encoding: 'utf8' }).filter((name) => extensions.test(name))
  if (names.length === 0) throw new CommandError(`error reading [${path}]: recognized file extensions are [.json .yaml .yml]`)
  return sortTexts(names).map((name) => join(path, name))
}

async function download(address: string): Promise<string> {
  const response = await fetch(address)
  if (!response.ok) throw new CommandError(`unable to read URL "${address}", server reported ${response.status} ${response.statusText}`)
  return response.text()
}

export function parseManifest(text: string, origin: string): readonly DynamicObject[] {
  try {
    const objects = readDocuments(text).flatMap(({ value, line, text: documentText }) =>
      (jsonStream(documentText) ?? [value]).flatMap((each) => itemsOf(each, `${origin}${line === 1 ? '' : `, line ${line}`}`)),
    )
    for (const object of objects) origins.set(object, origin)
    return objects
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === 'YamlError') throw new CommandError(`error parsing ${origin}: ${thrown.message}`)
    throw thrown
  }
}

/** JSON objects that follow each other without a separator; undefined if the text is something else. */
function jsonStream(text: string): readonly unknown[] | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  const texts: string[] = []
  let start = 0
  let depth = 0
  let isInText = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (isInText && char === '\\') at++
    else if (char === '"') isInText = !isInText
    else if (!isInText && char === '{') depth++
    else if (!isInText && char === '}' && --depth === 0) {
      texts.push(text.slice(start, at + 1))
      start = at + 1
    }
  }
  if (texts.length < 2) return undefined
  try {
    return [...texts, ...(text.slice(start).trim() === '' ? [] : [text.slice(start)])].map((each) => JSON.parse(each) as unknown)
  } catch {
    return undefined
  }
}

function itemsOf(value: unknown, origin: string): readonly DynamicObject[] {
  const object = value as DynamicObject & { readonly items?: unknown }
  if (!isRecord(value)) throw new CommandError(`${origin}: not an object`)
  for (const member of ['apiVersion', 'kind'] as const)
    if (typeof object[member] !== 'string' || object[member] === '')
      throw new CommandError(`error validating "${origin}": error validating data: ${member} not set`)
  if (!object.kind?.endsWith('List') || !Array.isArray(object.items)) return [object]
  return object.items.flatMap((item, i) => itemsOf(item, `${origin}, item ${i}`))
}
