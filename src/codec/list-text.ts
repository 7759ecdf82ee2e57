// The JSON of a list as JSON for people and as YAML, piece by piece, so that nobody needs to hold all of it.
//
// A list comes in pieces: a head that ends with the opening bracket of its items, any number of pieces of whole items with a comma behind each
// but the last, and the end. A list without items may come as one piece.

import type { Json } from '../api/object.js'
import { parseWrittenJson } from './json.js'
import { prettyPrinter } from './pretty.js'
import { compareKeys } from './yaml/key-order.js'
import { writeYaml } from './yaml/write-yaml.js'

export function* prettyPieces(pieces: Iterable<string>): Generator<string> {
  const print = prettyPrinter()
  let head: string | undefined
  for (const piece of pieces) {
    if (head === undefined) head = piece
    else {
      // Whether a bracket is closed at once is seen only together with what follows.
      yield print(head + piece)
      head = ''
    }
  }
  if (head !== undefined && head !== '') yield print(head)
}

type Frame = { readonly [key: string]: Json }

export function* yamlPieces(pieces: Iterable<string>): Generator<string> {
  const source = pieces[Symbol.iterator]()
  const head = textOf(source.next())
  let piece = textOf(source.next())
  let next = source.next()
  if (next.done) {
    yield writeYaml(parseWrittenJson(head + piece))
    return
  }
  const member = /"(\w+)":\[$/.exec(head)?.[1] ?? ''
  // What stands behind the items is known at the end; what is written in front of them never stands there.
  yield `${writeMembers(parseWrittenJson(`${head}]}`) as Frame, (key) => compareKeys(key, member) < 0)}${member}:\n`
  for (; !next.done; next = source.next()) {
    yield writeYaml(parseWrittenJson(`[${piece.endsWith(',') ? piece.slice(0, -1) : piece}]`))
    piece = next.value
  }
  yield writeMembers(parseWrittenJson(head + piece) as Frame, (key) => compareKeys(key, member) > 0)
}

const textOf = (result: IteratorResult<string>): string => (result.done ? '' : result.value)

function writeMembers(object: Frame, isWanted: (key: string) => boolean): string {
  const members = Object.entries(object).filter(([key]) => isWanted(key))
  return members.length === 0 ? '' : writeYaml(Object.fromEntries(members))
}
