// Protobuf messages of API objects by schema, without the envelope that carries kind and apiVersion.

import { readerOf } from '../../base/protobuf/protobuf-reader.js'
import { collectBytes, type ProtoWriter } from '../../base/protobuf/protobuf-writer.js'
import { resolve, type SchemaNode, type StructNode } from '../node.js'
import { messageReader } from './decode.js'
import { messageWriter } from './encode.js'
import type { ParseJson } from './scalar-messages.js'

const results = new WeakMap<StructNode, boolean>()

/** False if the type or a nested one is JSON only or keeps unknown members. */
export function hasProtobuf(node: StructNode): boolean {
  const cached = results.get(node)
  if (cached !== undefined) return cached
  const result = isEncodable(node, new Set())
  results.set(node, result)
  return result
}

/** `seen` ends the recursion of recursive schemas. */
function isEncodable(node: SchemaNode, seen: Set<SchemaNode>): boolean {
  if (seen.has(node)) return true
  seen.add(node)
  switch (node.type) {
    case 'struct':
      return node.noProto !== true && node.rest === undefined && Object.values(node.fields).every((field) => isEncodable(field.node, seen))
    case 'list':
      return isEncodable(node.item, seen)
    case 'map':
      return isEncodable(node.value, seen)
    case 'lazy':
      return isEncodable(resolve(node), seen)
    default:
      return true
  }
}

export const encodeMessage = (node: StructNode, value: unknown): Uint8Array => collectBytes((writer) => writeMessage(writer, node, value))

export const writeMessage = (writer: ProtoWriter, node: StructNode, value: unknown): void => messageWriter(node)(writer, value)

/** Skips unknown fields. Throws ProtobufReadError. */
export function decodeMessage(node: StructNode, bytes: Uint8Array, parseJson: ParseJson): Record<string, unknown> {
  const target: Record<string, unknown> = {}
  messageReader(node)({ ...readerOf(bytes), parseJson }, target)
  return target
}
