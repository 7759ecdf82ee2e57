// The JSON of a list as JSON for people and as YAML, piece by piece, so that nobody needs to hold all of it.
//
// A list comes in pieces: a head that ends with the opening bracket of its items, any number of pieces of whole items, all but the first of
// which begin with the comma between them, and the end. A list without items may come as one piece.

import type { Json } from '../api/object.js'
import { whenThere } from '../base/promised.js'
import type { Pieces } from './item-form.js'
import { parseWrittenJson } from './json.js'
import { prettyPrinter } from './pretty.js'
import { compareKeys } from './yaml/key-order.js'
import { writeYaml } from './yaml/write-yaml.js'

/** Takes the pieces of a text one by one; answers with what can be said by then. */
interface TextWriter {
  piece(text: string): string
  end(): string
}

/** The pieces of a list in JSON as indented JSON or YAML. */
export function textPieces(pieces: Pieces, format: 'pretty' | 'yaml'): Pieces {
  const writer = format === 'pretty' ? prettyWriter() : yamlWriter()
  let isDone = false
  const take = (piece: Uint8Array | undefined): ReturnType<Pieces> => {
    isDone = piece === undefined
    const text = piece === undefined ? writer.end() : writer.piece(decoder.decode(piece))
    if (text !== '') return encoder.encode(text)
    return isDone ? undefined : next()
  }
  const next: Pieces = () => (isDone ? undefined : whenThere(pieces(), take))
  return next
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

function prettyWriter(): TextWriter {
  const print = prettyPrinter()
  let head: string | undefined
  return {
    piece(text) {
      if (head === undefined) {
        head = text
        return ''
      }
      // Whether a bracket is closed at once is seen only together with what follows.
      const printed = print(head + text)
      head = ''
      return printed
    },
    end: () => (head === undefined || head === '' ? '' : print(head)),
  }
}

type Frame = { readonly [key: string]: Json }

function yamlWriter(): TextWriter {
  let head: string | undefined
  /** The last piece: whether it is the end is seen when no other follows. */
  let last: string | undefined
  let member = ''
  const begin = (): string => {
    member = /"(\w+)":\[$/.exec(head ?? '')?.[1] ?? ''
    // What stands behind the items is known at the end; what is written in front of them never stands there.
    return `${writeMembers(parseWrittenJson(`${head}]}`) as Frame, (key) => compareKeys(key, member) < 0)}${member}:\n`
  }
  return {
    piece(text) {
      if (head === undefined) {
        head = text
        return ''
      }
      const items = last
      last = text
      if (items === undefined) return ''
      const front = member === '' ? begin() : ''
      return front + writeYaml(parseWrittenJson(`[${items.startsWith(',') ? items.slice(1) : items}]`))
    },
    end() {
      const rest = `${head ?? ''}${last ?? ''}`
      if (member === '') return rest === '' ? '' : writeYaml(parseWrittenJson(rest))
      return writeMembers(parseWrittenJson(rest) as Frame, (key) => compareKeys(key, member) > 0)
    },
  }
}

function writeMembers(object: Frame, isWanted: (key: string) => boolean): string {
  const members = Object.entries(object).filter(([key]) => isWanted(key))
  return members.length === 0 ? '' : writeYaml(Object.fromEntries(members))
}
