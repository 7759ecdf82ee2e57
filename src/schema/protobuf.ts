// The Protobuf reading of schemas: objects to messages and back. The envelope around them is not its business.

import { readerOf } from '../base/protobuf-reader.js'
import { collectBytes, type ProtoWriter } from '../base/protobuf-writer.js'
import { resolve, type SchemaNode, type StructNode } from './node.js'
import { messageReader } from './protobuf-decode.js'
import { messageWriter } from './protobuf-encode.js'
import type { ParseJson } from './protobuf-messages.js'

const answers = new WeakMap<StructNode, boolean>()

/** Whether objects of this schema have a Protobuf form: members beyond the fields, anywhere in them, have no place in a message. */
export function hasProtobuf(node: StructNode): boolean {
  const known = answers.get(node)
  if (known !== undefined) return known
  const answer = fits(node, new Set())
  answers.set(node, answer)
  return answer
}

/** What was seen on the way fits, or has been refused already: a schema may contain itself. */
function fits(node: SchemaNode, seen: Set<SchemaNode>): boolean {
  if (seen.has(node)) return true
  seen.add(node)
  switch (node.type) {
    case 'struct':
      return node.noProto !== true && node.rest === undefined && Object.values(node.fields).every((field) => fits(field.node, seen))
    case 'list':
      return fits(node.item, seen)
    case 'map':
      return fits(node.value, seen)
    case 'lazy':
      return fits(resolve(node), seen)
    default:
      return true
  }
}

/** The message of an object. Throws where the type exists only as JSON. */
export const encodeMessage = (node: StructNode, value: unknown): Uint8Array => collectBytes((writer) => writeMessage(writer, node, value))

/** The same into a buffer that is being filled from its end. */
export const writeMessage = (writer: ProtoWriter, node: StructNode, value: unknown): void => messageWriter(node)(writer, value)

/**
 * The object of a message. Throws a ProtobufReadError. Fields that the schema
 * does not know are passed over.
 */
export function decodeMessage(node: StructNode, bytes: Uint8Array, parseJson: ParseJson): Record<string, unknown> {
  const target: Record<string, unknown> = {}
  messageReader(node)({ ...readerOf(bytes), parseJson }, target)
  return target
}
