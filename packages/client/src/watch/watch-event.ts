// Watch events: type and metadata are read from the head of the line, the object is parsed on first access.

import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { ProtocolError } from '../errors.js'
import type { ApiObject, WatchEvent } from '../objects/objects.js'

type EventType = WatchEvent<unknown>['type']

interface EventValue {
  readonly type: EventType
  readonly object: ApiObject
}

/** `object` is a getter; JSON.stringify and console.log show a plain event. */
class LineEvent {
  readonly type: EventType
  #head: RegExpExecArray | undefined
  #object: ApiObject | undefined

  constructor(type: EventType, object: ApiObject | undefined, head?: RegExpExecArray) {
    this.type = type
    this.#head = head
    this.#object = object
  }

  get name(): string {
    return this.#head === undefined ? (this.#object?.metadata?.name ?? '') : copyText(this.#head[1])
  }

  get namespace(): string {
    return this.#head === undefined ? (this.#object?.metadata?.namespace ?? '') : copyText(this.#head[2])
  }

  get uid(): string {
    return this.#head === undefined ? (this.#object?.metadata?.uid ?? '') : copyText(this.#head[3])
  }

  get resourceVersion(): string {
    return this.#head === undefined ? (this.#object?.metadata?.resourceVersion ?? '') : copyText(this.#head[4])
  }

  get object(): ApiObject {
    if (this.#object !== undefined) return this.#object
    const { object } = parseLine(this.#head?.input ?? '')
    this.#object = object
    this.#head = undefined
    return object
  }

  toJSON(): EventValue {
    return { type: this.type, object: this.object }
  }

  [Symbol.for('nodejs.util.inspect.custom')](): EventValue {
    return this.toJSON()
  }
}

export const makeEvent = <T>(type: EventType, object: T): WatchEvent<T> =>
  new LineEvent(type, object as ApiObject) as unknown as WatchEvent<T>

/** Parses the whole line only if its head is uncommon; then throws a ProtocolError for a line that is not an event. */
export function readEvent<T>(line: string): WatchEvent<T> {
  commonHead.lastIndex = 0
  const head = commonHead.exec(line)
  if (head === null || !line.endsWith('}}')) {
    const { type, object } = parseLine(line)
    return makeEvent(type, object as T)
  }
  const code = line.charCodeAt(typeOffset)
  const type = code === addedCode ? 'ADDED' : code === modifiedCode ? 'MODIFIED' : 'DELETED'
  return new LineEvent(type, undefined, head) as unknown as WatchEvent<T>
}

/** Head of lines of built-in kinds. Other lines, such as of custom resources with sorted fields, are parsed at once. */
const commonHead =
  /\{"type":"(?:ADDED|MODIFIED|DELETED)","object":\{"kind":"[^"\\]*","apiVersion":"[^"\\]*","metadata":\{"name":"([^"\\]*)",(?:"generateName":"[^"\\]*",)?(?:"namespace":"([^"\\]*)",)?"uid":"([^"\\]*)","resourceVersion":"([^"\\]*)"/y

const typeOffset = '{"type":"'.length
const [addedCode, modifiedCode] = [65, 77] as const

/** Shorter slices are copied by V8 and do not keep the whole string in memory. */
const minSliceLength = 13

/** Copies a slice: in V8 a slice keeps the whole string in memory. */
const copyText = (part = ''): string => (part.length < minSliceLength ? part : ` ${part}`.slice(1))

function parseLine(line: string): EventValue {
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch (cause) {
    throw new ProtocolError(`an event of the watch is not JSON: ${shorten(line, 100)}`, { cause })
  }
  if (isEvent(parsed)) return parsed
  throw new ProtocolError(`a line of the watch is not an event: ${shorten(line, 100)}`)
}

function isEvent(parsed: unknown): parsed is EventValue {
  if (typeof parsed !== 'object' || parsed === null) return false
  const { type, object } = parsed as { readonly [name: string]: unknown }
  return typeof type === 'string' && typeof object === 'object' && object !== null
}
