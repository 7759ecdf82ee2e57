// An event of a watch: what happened to which object, known from the head of its line; the object itself is parsed when it is first read.

import { shorten } from '../base/shorten.js'
import { ProtocolError } from './errors.js'
import type { ApiObject, WatchEvent } from './objects.js'

/** How many objects of some events were read. */
export class ReadCount {
  value = 0
}

type EventType = WatchEvent<unknown>['type']

export interface EventValue {
  readonly type: EventType
  readonly object: ApiObject
}

/** `object` is a getter, and yet the event is as JSON, and to a console, what a plain value would be. */
class LineEvent {
  readonly type: EventType
  /** Undefined once it was parsed. */
  #head: RegExpExecArray | undefined
  #object: ApiObject | undefined
  /** Where it is counted when the object is read first. */
  #reads: ReadCount | undefined

  constructor(type: EventType, reads: ReadCount | undefined, object: ApiObject | undefined, head?: RegExpExecArray) {
    this.type = type
    this.#head = head
    this.#object = object
    this.#reads = reads
  }

  /** Of the object; empty for a bookmark. */
  get name(): string {
    return this.#head === undefined ? (this.#object?.metadata?.name ?? '') : aloneText(this.#head[1])
  }

  /** Empty where objects are in none. */
  get namespace(): string {
    return this.#head === undefined ? (this.#object?.metadata?.namespace ?? '') : aloneText(this.#head[2])
  }

  get uid(): string {
    return this.#head === undefined ? (this.#object?.metadata?.uid ?? '') : aloneText(this.#head[3])
  }

  get resourceVersion(): string {
    return this.#head === undefined ? (this.#object?.metadata?.resourceVersion ?? '') : aloneText(this.#head[4])
  }

  get object(): ApiObject {
    if (this.#reads !== undefined) {
      this.#reads.value++
      this.#reads = undefined
    }
    if (this.#object !== undefined) return this.#object
    const { object } = parseLine(this.#head?.input ?? '')
    this.#object = object
    // The text is not needed any more, and neither are the parts of it.
    this.#head = undefined
    return object
  }

  toJSON(): EventValue {
    return { type: this.type, object: this.object }
  }

  /** What a console shows. */
  [Symbol.for('nodejs.util.inspect.custom')](): EventValue {
    return this.toJSON()
  }
}

/** An event whose object is known. */
export function makeEvent<T>(type: EventType, object: T, reads?: ReadCount): WatchEvent<T> {
  return new LineEvent(type, reads, object as ApiObject) as unknown as WatchEvent<T>
}

/** Throws a ProtocolError for what is no event. */
export function parseEvent<T>(line: string, reads: ReadCount): WatchEvent<T> {
  const { type, object } = parseLine(line)
  return makeEvent(type, object as T, reads)
}

/** Without that its object is parsed, where the line begins as usual. Throws a ProtocolError where it does not, and is no event. */
export function readEvent<T>(line: string, reads: ReadCount): WatchEvent<T> {
  usualHead.lastIndex = 0
  const head = usualHead.exec(line)
  if (head === null || !line.endsWith('}}')) return parseEvent(line, reads)
  const letter = line.charCodeAt(letterAt)
  const type = letter === letterOfAdded ? 'ADDED' : letter === letterOfModified ? 'MODIFIED' : 'DELETED'
  return new LineEvent(type, reads, undefined, head) as unknown as WatchEvent<T>
}

/**
 * How lines begin that servers write for the kinds that they know. Others, such as those of custom objects, whose members are sorted, or with
 * anything unusual in these strings, are parsed at once.
 */
const usualHead =
  /\{"type":"(?:ADDED|MODIFIED|DELETED)","object":\{"kind":"[^"\\]*","apiVersion":"[^"\\]*","metadata":\{"name":"([^"\\]*)",(?:"generateName":"[^"\\]*",)?(?:"namespace":"([^"\\]*)",)?"uid":"([^"\\]*)","resourceVersion":"([^"\\]*)"/y

const letterAt = '{"type":"'.length
const [letterOfAdded, letterOfModified] = [65, 77] as const

/** Shorter parts are copies anyway. */
const shortestSlice = 13

/** A part of a text keeps the whole of it in memory for as long as somebody remembers the part; this is a copy. */
const aloneText = (part = ''): string => (part.length < shortestSlice ? part : ` ${part}`.slice(1))

function parseLine(line: string): EventValue {
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch (cause) {
    throw new ProtocolError(`an event of the watch is no JSON: ${shorten(line, 100)}`, { cause })
  }
  if (isEvent(parsed)) return parsed
  throw new ProtocolError(`a line of the watch is no event: ${shorten(line, 100)}`)
}

export function isEvent(parsed: unknown): parsed is EventValue {
  if (typeof parsed !== 'object' || parsed === null) return false
  const { type, object } = parsed as { readonly [name: string]: unknown }
  return typeof type === 'string' && typeof object === 'object' && object !== null
}
