// The text of a list piece by piece, so that nobody needs to hold all of it: as JSON, as JSON for people, as YAML.

import type { Json } from '../api/object.js'
import { prettyPrinter } from './pretty.js'
import { compareKeys } from './yaml/key-order.js'
import { writeYaml } from './yaml/write-yaml.js'

/** The JSON of a list, open where its items belong. */
export interface ListText {
  /** Ends with the name of the member that holds the items, and a colon. */
  readonly head: string
  /** The JSON of each item. */
  readonly items: Iterable<string>
  /** What a list without items has in their place. */
  readonly none: '[]' | 'null'
  readonly end: string
  readonly member: 'items' | 'rows'
}

export function* jsonPieces({ head, items, none, end }: ListText): Generator<string> {
  let isFirst = true
  for (const item of items) {
    yield isFirst ? `${head}[${item}` : `,${item}`
    isFirst = false
  }
  yield isFirst ? `${head}${none}${end}` : `]${end}`
}

export function* prettyPieces(list: ListText): Generator<string> {
  const print = prettyPrinter()
  for (const piece of jsonPieces(list)) yield print(piece)
}

export function* yamlPieces({ head, items, none, end, member }: ListText): Generator<string> {
  const frame = JSON.parse(`${head}${none}${end}`) as { readonly [key: string]: Json }
  let isFirst = true
  for (const item of items) {
    if (isFirst) yield `${writeMembers(frame, (key) => compareKeys(key, member) < 0)}${member}:\n`
    isFirst = false
    yield writeYaml([JSON.parse(item) as Json])
  }
  yield isFirst ? writeYaml(frame) : writeMembers(frame, (key) => compareKeys(key, member) > 0)
}

function writeMembers(object: { readonly [key: string]: Json }, isWanted: (key: string) => boolean): string {
  const members = Object.entries(object).filter(([key]) => isWanted(key))
  return members.length === 0 ? '' : writeYaml(Object.fromEntries(members))
}
