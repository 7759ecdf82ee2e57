// The objects that a server shall begin with, from values, files and folders, each with the words by which an error names it.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sortTexts } from '../../base/text-order.js'
import { readDocuments } from '../../codec/yaml/read-documents.js'
import { StartError } from '../start-failure.js'
import type { FirstObject, ObjectValue } from './server-options.js'

export interface NamedObject {
  readonly object: ObjectValue
  /** Where it comes from. */
  readonly origin: string
}

/** Of a folder, what is in it and in folders in it, in the order of the names. */
const endings = /\.(?:ya?ml|json)$/

export function readObjects(objects: readonly FirstObject[]): readonly NamedObject[] {
  return objects.flatMap((object, i) =>
    typeof object === 'string' ? readPath(object) : itemsOf({ object: checkObject(object, `objects[${i}]`), origin: `objects[${i}]` }),
  )
}

function readPath(path: string): readonly NamedObject[] {
  try {
    if (!statSync(path).isDirectory()) return readFile(path)
    const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => endings.test(name))
    const files = names.map((name) => join(path, name)).filter((file) => statSync(file).isFile())
    if (files.length === 0) throw new StartError(`objects: the folder ${path} has no file that ends in .yaml, .yml or .json`)
    return sortTexts(files).flatMap(readFile)
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown) throw new StartError(`objects: cannot read ${path}: ${thrown.message}`)
    throw thrown
  }
}

function readFile(path: string): readonly NamedObject[] {
  try {
    return readDocuments(readFileSync(path, 'utf8')).flatMap(({ value, line, duplicates }) => {
      const origin = `${path}:${line}`
      if (duplicates[0] !== undefined) throw new StartError(`objects: ${origin}: ${duplicates[0]}`)
      return itemsOf({ object: checkObject(value, origin), origin })
    })
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === 'YamlError') throw new StartError(`objects: ${path}: ${thrown.message}`)
    throw thrown
  }
}

function itemsOf({ object, origin }: NamedObject): readonly NamedObject[] {
  const { items } = object
  if (!object.kind.endsWith('List') || !Array.isArray(items)) return [{ object, origin }]
  return items.map((item: unknown, i) => ({ object: checkObject(item, `${origin}, item ${i}`), origin: `${origin}, item ${i}` }))
}

function checkObject(value: unknown, origin: string): ObjectValue {
  const object = value as Partial<ObjectValue> | null
  if (typeof object !== 'object' || object === null) throw new StartError(`objects: ${origin}: an object is expected`)
  for (const member of ['apiVersion', 'kind'] as const)
    if (typeof object[member] !== 'string' || object[member] === '') throw new StartError(`objects: ${origin}: it has no ${member}`)
  return object as ObjectValue
}
