// The JSON of a list as JSON for people and as YAML, piece by piece, so that nobody needs to hold all of it.
//
// A list comes in pieces: a head that ends with the opening bracket of its items, any number of pieces of whole items, all but the first of
// which begin with the comma between them, and the end. A list without items may come as one piece.

import type { Json } from '../api/object.js'
import { type Promised, whenThere } from '../base/promised.js'
import type { Pieces } from './item-form.js'
import { parseWrittenJson } from './json.js'
import { prettyJson, printAt } from './pretty.js'
import { compareKeys } from './yaml/key-order.js'
import { writeYaml } from './yaml/write-yaml.js'

/** JSON that is to be written for people: one object or table, or some items of a list with the commas between them. */
export interface WrittenText {
  readonly format: 'pretty' | 'yaml'
  readonly json: string
  readonly areItems: boolean
}

/** Writes a long text in a worker thread. */
export type WriteText = (text: WrittenText) => Promise<Uint8Array>

/** Of small items a piece has 128 KiB at most; larger ones are of one large object. */
const mostTextLength = 160 << 10

/** The members of a list, and of its items. */
const itemDepth = 2

export function writeLongText({ format, json, areItems }: WrittenText): string {
  if (format === 'pretty') return areItems ? printAt(json, itemDepth) : prettyJson(json)
  return writeYaml(areItems ? parseItems(json) : parseWrittenJson(json))
}

const parseItems = (items: string): readonly Json[] =>
  parseWrittenJson(`[${items.startsWith(',') ? items.slice(1) : items}]`) as readonly Json[]

/** A part of a text: known, to be written when it is its turn, or long enough for a worker thread. */
type Part = string | (() => string) | WrittenText

/** Takes the pieces of a text one by one; answers with what can be said by then. */
interface TextWriter {
  piece(text: string): readonly Part[]
  end(): string
}

/** The pieces of a list in JSON as indented JSON or YAML. */
export function textPieces(pieces: Pieces, format: 'pretty' | 'yaml', inWorker?: WriteText): Pieces {
  const writer = format === 'pretty' ? prettyWriter() : yamlWriter()
  const write = (part: Part): Promised<Uint8Array> => {
    if (typeof part === 'string') return encoder.encode(part)
    if (typeof part === 'function') return encoder.encode(part())
    if (inWorker !== undefined && part.json.length > mostTextLength) return inWorker(part)
    if (part.format === 'pretty') return encoder.encode(writeLongText(part))
    parts.unshift(...shortParts(part.json))
    return next() as Promised<Uint8Array>
  }
  /** Said, and not given yet. */
  let parts: Part[] = []
  let isDone = false
  const take = (piece: Uint8Array | undefined): ReturnType<Pieces> => {
    isDone = piece === undefined
    parts = (piece === undefined ? [writer.end()] : [...writer.piece(decoder.decode(piece))]).filter((part) => part !== '')
    return next()
  }
  const next: Pieces = () => {
    const part = parts.shift()
    if (part !== undefined) return write(part)
    return isDone ? undefined : whenThere(pieces(), take)
  }
  return next
}

/** YAML takes a tenth of a microsecond for each letter: so much of it is written in a millisecond or two. */
const shortLength = 12 << 10

/** Items of YAML stand one below the other, so that each can be written by itself. */
function shortParts(text: string): readonly Part[] {
  const items = parseItems(text)
  const count = Math.max(1, Math.floor((items.length * shortLength) / text.length))
  const parts: Part[] = []
  for (let i = 0; i < items.length; i += count) parts.push(() => writeYaml(items.slice(i, i + count)))
  return parts
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

function prettyWriter(): TextWriter {
  let head: string | undefined
  let hasItems = false
  return {
    piece(text) {
      if (head === undefined) {
        head = text
        return []
      }
      // Whether a bracket is closed at once is seen only together with what follows.
      if (text.startsWith(']')) {
        const end = hasItems ? printAt(text, itemDepth) : printAt(head + text, 0)
        head = ''
        return [end]
      }
      const front = hasItems ? '' : printAt(head, 0)
      hasItems = true
      head = ''
      return [front, { format: 'pretty', json: text, areItems: true }]
    },
    end: () => (head === undefined || head === '' ? '' : printAt(head, 0)),
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
        return []
      }
      const items = last
      last = text
      return items === undefined ? [] : [member === '' ? begin() : '', { format: 'yaml', json: items, areItems: true }]
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
