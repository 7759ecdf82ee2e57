// Objects from files, folders, addresses and standard input, as YAML documents or JSON; lists stand for their items.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sortTexts } from '../base/text-order.js'
import type { DynamicObject } from '../client/objects.js'
import { readDocuments } from '../codec/yaml/read-documents.js'
import { Failure } from './failure.js'
import type { Io } from './io.js'

export interface ManifestPlace {
  readonly filename: readonly string[]
  readonly recursive: boolean
}

const origins = new WeakMap<DynamicObject, string>()

/** The file in which an object was found. */
export const originOf = (object: DynamicObject): string => origins.get(object) ?? ''

const endings = /\.(?:ya?ml|json)$/

export async function readManifests({ filename, recursive }: ManifestPlace, io: Io): Promise<readonly DynamicObject[]> {
  const objects: DynamicObject[] = []
  for (const place of filename) {
    if (place === '-') objects.push(...objectsOf(await io.readStdin(), 'standard input'))
    else if (/^https?:\/\//.test(place)) objects.push(...objectsOf(await download(place), place))
    else for (const file of filesOf(place, recursive)) objects.push(...objectsOf(readFileSync(file, 'utf8'), file))
  }
  return objects
}

function filesOf(path: string, recursive: boolean): readonly string[] {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw new Failure(`the path "${path}" does not exist`)
  if (!stat.isDirectory()) return [path]
  const names = readdirSync(path, { recursive, encoding: 'utf8' }).filter((name) => endings.test(name))
  if (names.length === 0) throw new Failure(`error reading [${path}]: recognized file extensions are [.json .yaml .yml]`)
  return sortTexts(names).map((name) => join(path, name))
}

async function download(address: string): Promise<string> {
  const answer = await fetch(address)
  if (!answer.ok) throw new Failure(`unable to read URL "${address}", server reported ${answer.status} ${answer.statusText}`)
  return answer.text()
}

export function objectsOf(text: string, origin: string): readonly DynamicObject[] {
  try {
    const objects = readDocuments(text).flatMap(({ value, line }) => itemsOf(value, `${origin}${line === 1 ? '' : `, line ${line}`}`))
    for (const object of objects) origins.set(object, origin)
    return objects
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === 'YamlError') throw new Failure(`error parsing ${origin}: ${thrown.message}`)
    throw thrown
  }
}

function itemsOf(value: unknown, origin: string): readonly DynamicObject[] {
  const object = value as DynamicObject & { readonly items?: unknown }
  if (typeof object !== 'object' || object === null || Array.isArray(object)) throw new Failure(`${origin}: an object is expected`)
  for (const member of ['apiVersion', 'kind'] as const)
    if (typeof object[member] !== 'string' || object[member] === '')
      throw new Failure(`error validating "${origin}": error validating data: ${member} not set`)
  if (!object.kind?.endsWith('List') || !Array.isArray(object.items)) return [object]
  return object.items.flatMap((item, i) => itemsOf(item, `${origin}, item ${i}`))
}
